"""Questions of a dialogue that were answered with yes or no, against what a claim asserts or denies.

"Do you smoke?" "No." says that the speaker does not smoke, though no sentence of the dialogue does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement
from hallumeter.claims.judges.rules.turns import Utterance, utterances_of
from hallumeter.records.response import Passage, Quote
from hallumeter.text.terms import Terms, terms_of

from .assertion import clause_of, is_asserted

REASON = "answer_mismatch"
_REMEMBERED = 8
_YES = re.compile(
    r"(?:(?:uh|um|oh|well|a little),?\s)?(?:yes|yeah|yep|yup|sure|correct|absolutely|definitely|of course|uh-huh|mm-hmm"
    r"|i (?:do|did|am|have|can|was)\b(?!['’]| not)|oui|네|예)(?![\w-])",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:(?:uh|um|oh|well),?\s)?(?:no|nope|nah|never|none|nothing|uh-uh|not (?:yet|anymore|any more|at all|really)"
    r"|i (?:don['’]t|didn['’]t|haven['’]t|can['’]t|am not|do not|did not|have not)|i['’]m not|non|jamais"
    r"|아니요|아니오|아뇨)(?![\w-])",
    re.IGNORECASE,
)
_POLAR = re.compile(
    r"(?:(?:and|so|okay|ok|alright|now|well|great|good|also),?\s)*(?:do|does|did|are|is|was|were|have|has|had|can|could"
    r"|will|would|any|still|ever|avez|êtes|est|prenez|as-tu|es-tu)\b|\w+ez-vous\b"
    r"|and\s\w+(?:\s\w+)?\?$",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:other|others|else|more|new|recent|recently|changes?|anything|something|anyone|someone|concerns?|questions?"
    r"|issues?|problems?|else|why|what|when|how|which|who|where|okay|right|remember|know|think)\b",
    re.IGNORECASE,
)
"""Words of a question whose yes or no says little by itself."""
_MARK = re.compile(r"^\[[^\]]*\]:?\s*")
_ITEMS = re.compile(r",|\b(?:or|and|ou|et)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|negative for|free of|declin\w+|refus\w+|rules? out|absence of|no longer|non)\b"
    r"|\bnon-?(?=smok|drink)",
    re.IGNORECASE,
)
_ADMITS = re.compile(r"\b(?:admits?|endorses?|reports?|complains?|confirms?|states?|says|notes)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:quit\w*|stopp\w+|former\w*|used to|previous\w*|history|ex-|past|gave up|ago|prior|before|until|once|if"
    r"|unless|except|only|occasional\w*|rare\w*|sometimes|however|minimal\w*|mild\w*|unknown|unclear|unsure|may|might"
    r"|possibl\w+)\b",
    re.IGNORECASE,
)
"""A claim with these says more than yes or no."""
_RELATIVES = frozenset(
    terms_of(
        "mother father brother sister son daughter wife husband parents family grandmother grandfather uncle aunt"
    ).keys
)
_TOLD = frozenset(
    terms_of(
        "patient doctor customer agent client user caller speaker team child reports denies states says admits"
        " complains notes denied reported stated currently still use uses using any time symptoms patient's"
    ).keys
)
"""Words of a report that are no part of what is reported."""
_LEAST_SHARE = 0.5
"""Share of the words of a clause that must be those of the question: the clause is about that and little else."""
_IRREGULAR = {"bought": "buy", "took": "tak", "fell": "fall", "drank": "drink", "ate": "eat", "drunk": "drink"}


class _Answered(Struct, frozen=True):
    """What a question asks for, and whether it was answered with yes."""

    keys: frozenset[str]
    is_yes: bool
    quote: Quote


def check_dialogue_answers(statement: Statement) -> list[Finding]:
    """What the claim asserts though a question for it was answered with no, or denies though it was yes."""
    findings: list[Finding] = []
    for answered in _answers(statement.evidence):
        finding = _compared(statement.terms, answered)
        if finding is not None and not any(finding.start < each.end and each.start < finding.end for each in findings):
            findings.append(finding)
    return findings


@lru_cache(maxsize=_REMEMBERED)
def _answers(evidence: Evidence) -> tuple[_Answered, ...]:
    """All answered questions; none of those whose words come again elsewhere, where more may be said of them."""
    found: list[_Answered] = []
    for block in evidence.blocks:
        if block.leaf is None:
            found += _answered_in(block.passage)
    return tuple(found)


def _answered_in(passage: Passage) -> Iterator[_Answered]:
    said = utterances_of(passage.text)
    where: dict[str, set[int]] = {}
    for number, each in enumerate(said):
        for key in terms_of(passage.text[each.start : each.end]).keys:
            where.setdefault(key, set()).add(number)
    for each in said:
        for answered in _read(passage, each):
            places = sorted((where.get(key, set()) for key in answered.keys), key=len)
            if len(places[0].intersection(*places[1:])) <= 1:
                yield answered


def _read(passage: Passage, said: Utterance) -> Iterator[_Answered]:
    """The items of a question that was answered with yes or no."""
    if said.answer is None:
        return
    asked = _MARK.sub("", passage.text[said.start : said.answer].strip())
    reply = passage.text[said.answer : said.end].partition(said.speaker)[2].lstrip(" :]\t")
    is_yes = _YES.match(reply) is not None
    if not is_yes and _NO.match(reply) is None:
        return
    question = asked.partition(": ")[2] if _POLAR.match(asked) is None and ": " in asked else asked
    is_hangul = re.search(r"[가-힣]", question) is not None
    if not is_hangul and (_POLAR.match(question) is None or _OPEN.search(question) is not None):
        return
    if is_yes and re.search(r"\b(?:but|except|or)\b", f"{question} {reply}") is not None:
        return
    quote = Quote(passage.evidence_id, said.start, said.end, passage.text[said.start : said.end])
    for item in [question] if is_yes or is_hangul else _ITEMS.split(question):
        keys = _topic(item, is_hangul=is_hangul)
        if keys and not keys & frozenset(terms_of(reply.partition("but")[2]).keys):
            yield _Answered(keys, is_yes, quote)


_ASKING = frozenset(
    {"", *terms_of("have had any ever get feel noticed experienced take currently like avez prenez").keys}
)


_USING = frozenset(terms_of("drink use").keys)
"""Verbs that a report leaves out: "Do you drink alcohol?", "denies alcohol"."""


def _topic(item: str, *, is_hangul: bool) -> frozenset[str]:
    terms = terms_of(item)
    if is_hangul:
        return frozenset(terms.keys[:1]) - {""}
    keys = frozenset(key for key in terms.keys if key not in _ASKING)
    keys = keys - _USING if keys - _USING else keys
    return keys if any(len(key) > 2 for key in keys) else frozenset()


def _compared(terms: Terms, answered: _Answered) -> Finding | None:
    """A finding when a clause of the claim has the words of the question and says the contrary of the answer."""
    places = [place for place, key in enumerate(terms.keys) if _same(key, answered.keys)]
    if len({_meant(terms.keys[place], answered.keys) for place in places}) < len(answered.keys):
        return None
    span = terms.starts[places[0]], terms.ends[places[-1]]
    start, end = clause_of(terms.text, (span[0], span[0] + 1))
    if (
        span[1] > end
        or _PAST.search(terms.text, start, end) is not None
        or not _is_about(terms, (start, end), answered)
    ):
        return None
    said = _said(terms.text, span, clause=(start, end))
    if said is None or said is answered.is_yes:
        return None
    first = _cue(terms.text, start, span[0]) if not said else span[0]
    verb = "says" if said else "denies"
    note = f"response {verb} “{terms.text[span[0] : span[1]]}”, the answer in the evidence is {_word(answered)}"
    return Finding(REASON, first, span[1], note, (answered.quote,))


def _word(answered: _Answered) -> str:
    return "yes" if answered.is_yes else "no"


def _meant(key: str, keys: frozenset[str]) -> str:
    key = _IRREGULAR.get(key, key)
    return next((each for each in keys if _is_hangul(each) and key.startswith(each)), key)


def _same(key: str, keys: frozenset[str]) -> bool:
    return bool(key) and _meant(key, keys) in keys


def _is_hangul(key: str) -> bool:
    return "가" <= key[0] <= "힣"


def _is_about(terms: Terms, clause: tuple[int, int], answered: _Answered) -> bool:
    """Whether a clause has little else than the words of the question, and speaks of nobody's relatives."""
    inside = [
        key
        for start, key in zip(terms.starts, terms.keys, strict=True)
        if clause[0] <= start < clause[1] and key and key not in _TOLD
    ]
    if any(key in _RELATIVES and key not in answered.keys for key in inside):
        return False
    if any(map(_is_hangul, answered.keys)):
        return True
    return sum(_same(key, answered.keys) for key in inside) >= _LEAST_SHARE * len(set(inside))


def _said(text: str, span: tuple[int, int], *, clause: tuple[int, int]) -> bool | None:
    """Whether a clause asserts what stands in a place; a report may deny it by its verb."""
    if _ASIDE.search(text[clause[0] : span[0]]) is not None:
        return None
    if _DENIAL.search(text, clause[0], span[0]) is not None:
        return None if _ADMITS.search(text, clause[0], span[0]) is not None else False
    last = max(span[0], text.rfind(" ", 0, span[1]) + 1)
    whole = is_asserted(text, (last, span[1]))
    return whole if whole is is_asserted(text, (span[0], max(span[0] + 1, last))) or span[0] == last else None


_ASIDE = re.compile(r"\b(?:about|during|after|regarding|with (?:her|his|their|my))\s(?:\w+\s)?$", re.IGNORECASE)
_CUE = re.compile(r"\b(?:not|no|never|without|denies|denied|pas|ne|n['’])(?=\s|$)|\w+n['’]t\b", re.IGNORECASE)


def _cue(text: str, start: int, end: int) -> int:
    """Where the last word that denies stands before a place."""
    return max((match.start() for match in _CUE.finditer(text, start, end)), default=end)
