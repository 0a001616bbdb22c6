"""What stands in an answer and claims nothing: citation marks, addresses, tags and signs of formulas."""

from __future__ import annotations

import re

_SOURCES = (
    "documents?|docs?|sources?|src|refs?|references?|passages?|pages?|pp?|cit(?:e|ations?)|evidence|context|notes?|fn"
    "|chunk|footnotes?|출처|문서|자료|근거|각주|참고"
)
_MARKS = re.compile(
    # [1], [2, 3], [4-6], [^7]
    r"\[\^?[1-9]\d{0,2}(?:\s?[,;–-]\s?[1-9]\d{0,2}){0,20}\]"
    # 【4†source】
    r"|【\d{1,4}(?::\d{1,4})?(?:†[^【】\n]{0,80})?】"
    # [doc_4, p. 12]
    rf"|\[(?:{_SOURCES})(?![^\W\d_])[^\[\]\n]{{0,60}}\]"
    # a raised number after a word or a full stop, but not that of m²
    r"|(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?)\]”\"»]))[⁰¹²³⁴-⁹]{1,3}"
    r"|(?<!\d)<sup>[^<>\n]{1,20}</sup>"
    # the target of a link
    r"|(?<=\])\([^()\s]{1,500}(?:\s\"[^\"\n]{0,200}\")?\)"
    r"|(?:https?://|www\.)[^\s<>\[\](){}\"”»]+"
    # a tag
    r"|</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[\w-]{1,40}=(?:\"[^\"]{0,500}\"|'[^']{0,500}'|[^\s>\"']{1,500})){0,20}\s?/?>",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"(?<!\\)\$(?=[^$\n]{0,300}[\\^_])[^\s$](?:[^$\n]{0,300})\$(?!\d)|\\\([^\n]{1,300}?\\\)|\\\[[^\n]{1,300}?\\\]"
)
_FORMULA_SIGNS = re.compile(r"\\[A-Za-z]+|[\^_](?:\{[^{}\n]{0,40}\}|\w)")


def without_marks(text: str) -> str:
    """The text with spaces in the place of whatever claims nothing, so that all else stays where it is.

    >>> without_marks("Paris [1] is big.")
    'Paris     is big.'
    >>> without_marks("See [Paris](http://x.org?y=1).")
    'See [Paris]                  .'
    """
    return _FORMULA.sub(_plain_formula, _MARKS.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _plain_formula(match: re.Match[str]) -> str:
    """A formula without its commands and exponents: its numbers still claim something."""
    return _FORMULA_SIGNS.sub(_blank, match.group())
