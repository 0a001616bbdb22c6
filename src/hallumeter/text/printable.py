"""Text from a file, made safe to print: what a terminal would obey is shown as a dot."""

from __future__ import annotations

import unicodedata

OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (escapes, overrides of direction), lone surrogates, separators of lines."""


def printable(text: str) -> str:
    r"""The text with a dot for every character that is obeyed instead of shown, line breaks included.

    >>> printable("a\x1b[31mb\n\u202ec")
    'a·[31mb··c'
    """
    if text.isprintable():
        return text
    return "".join("·" if unicodedata.category(character) in OBEYED else character for character in text)


def printable_lines(text: str) -> str:
    r"""The same with line breaks kept; as many characters as before, so that places in the text stay.

    >>> printable_lines("a\tb\r\nc\x1b")
    'a b \nc·'
    """
    return "\n".join(printable(line) for line in text.replace("\r\n", " \n").replace("\t", " ").split("\n"))


def one_line(text: str) -> str:
    r"""The text as one line that can be printed.

    >>> one_line("a\n  b\x1b]0;t\x07")
    'a b·]0;t·'
    """
    return printable(" ".join(text.split()))
