"""Whether a text asserts or denies what it names: "offers WiFi", "no WiFi", "WiFi is not available"."""

from __future__ import annotations

import re

_BREAK = re.compile(
    r"[;\n]|(?<!m)\.\s|:\s|\s[–—-]\s|—|,?\s(?:but|while|although|though|whereas|however|yet|despite|unlike|mais"
    r"|tandis que|alors que)\s|\)\s|\s\(|^(?:although|though|while|despite|unlike|even though)\s",
    re.IGNORECASE,
)
_VERBS = (
    r"is|are|was|were|has|have|does|do|can|cannot|may|will|must|offers?|provides?|accepts?|takes?|features|includes"
    r"|allows?|boasts|serves?|suits|opens?|holds|welcomes|rely|relies|supports?|comes|lacks?|go|goes|use|sit"
)
_NEW_SUBJECT = re.compile(
    r",\s(?:and\s|so\s|or\s)?(?=(?:it|they|there|you|we|he|she|nobody|nothing|neither|guests|visitors|customers|diners"
    r"|drivers|il|elle|on)\b"
    rf"|(?:(?!but\b|and\b|or\b)[\w'’-]+\s){{1,3}}(?:{_VERBS}|isn|aren|doesn|don)\b|(?:and|so|or)\s(?:{_VERBS})\b)"
    rf"|,\s(?:and|so|or)\s(?=(?:no|{_VERBS})\b)|\s(?:and|et)\s(?=(?:it|there|they|il|elle)\b)",
    re.IGNORECASE,
)
_VERB = re.compile(rf"\b(?:{_VERBS}|without)\b|n['’]t\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:no|not|nor|neither|without|lacks?|lacking|never|none|nobody|cannot|rather than|instead of|pas|aucune?|sans"
    r"|(?:absent|missing) (?:is|are)|drops|omits|excludes|excluding|except)\b|n['’]t\b",
    re.IGNORECASE,
)
_DETERMINERS = frozenset({"no", "rather than", "instead of", "aucun", "aucune"})
"""Denials that reach to one noun, or to nouns that are joined by "or"."""
_NOT_DENYING = re.compile(
    r"\b(?:not only|no longer than|no (?:extra |additional )?(?:charge|cost|fee)|not far|no doubt|not just"
    r"|no need to|no matter)\b",
    re.IGNORECASE,
)
# Without base forms: "does not take reservations, provide WiFi or suit groups" denies all three.
_ASSERTS = re.compile(
    r"\b(?:offers|offering|has|having|provid(?:es|ing)|accept(?:s|ing)|tak(?:es|ing)|featur(?:es|ing)"
    r"|includ(?:es|ing)|allow(?:s|ing)|boast(?:s|ing)|serv(?:es|ing)|support(?:s|ing)|comes|with"
    r"|is|are|there|can|may|must|relies|rely|propose|offre|dispose)\b",
    re.IGNORECASE,
)
_ABSORBED = re.compile(r"(?:\s+[\w'’-]+){0,3}\s*", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(?P<verb>is|are|was|were|can|may|will|does|do|est|sont)\b"
    r"(?P<not>\s(?:\w+ly\s|also\s|both\s|marked as\s|listed as\s|all\s)?"
    r"(?:not|never|neither|unavailable|absent|missing|lacking|prohibited|forbidden|nonexistent|no longer|pas)\b)?"
    r"|\b(?P<short>isn['’]t|aren['’]t|cannot|can['’]t|doesn['’]t|don['’]t|unavailable|absent|missing)(?!\w)",
    re.IGNORECASE,
)
_COLON = re.compile(r"\s*(?::|\()\s*(?P<value>[\w-]+)")
_LISTED = re.compile(r"(?:,|\band\b|\bor\b|\bas well as\b|&|\bet\b|\bou\b)", re.IGNORECASE)
_OR = re.compile(r"\b(?:or|ou|nor|ni)\b", re.IGNORECASE)
_INSERTED = re.compile(r",\s(?:however|though|unfortunately|sadly|too|also|meanwhile|cependant),\s", re.IGNORECASE)
_JOINED = re.compile(r"(?:,|\band|\bor|\bbut|\bet)\s*$", re.IGNORECASE)
_LONGEST_LIST = 60
_UNSURE = re.compile(
    r"\b(?:not|n['’]t|never|un) ?(?:\w+ )?(?:specif\w+|mention\w*|list(?:ed)?|indicat\w+|stat(?:e|ed)|clear|known"
    r"|given|disclosed|noted|say|confirmed|detailed)\b"
    r"|\bno (?:\w+ )?(?:information|mention|details?|data|word|indication)\b|\bun(?:known|clear|specified|listed)\b"
    r"|\bnothing\b|\binformation\b|\bwhether\b|\bif\b|\bunsure\b|\bnull\b|\bmight\b|\bperhaps\b|\bwish(?:es|ed)?\b"
    r"|\b(?:no|not|n['’]t|without|never)\b[^,;.]{0,30}\b(?:requir\w+|necessary|needed|need|guaranteed|always|limited"
    r"|recommended|ideal if)\b"
    r"|\bdepend\w*|미상|알 수 없",
    re.IGNORECASE,
)
_OWN_VERB = re.compile(r"\b(?:is|are|can be|delivers|caters|book|reserve)\b", re.IGNORECASE)
_JUST_BEFORE = re.compile(
    r"\b(?:no|without|neither|nor|(?:neither|nor) (?:is|are)|not|cannot|never)\s"
    r"(?:(?:any|free|large|\w+ing|yet|be|easily)\s)?$|n['’]t\s(?:\w+ing\s|be\s)?$",
    re.IGNORECASE,
)
_NOS = ("no", "not", "none", "false", "unavailable", "absent", "missing", "non")
_HANGUL = re.compile(r"[가-힣]")
_KOREAN_END = re.compile(r"지만|으나|는데|고\s|며\s|고,|,|\.|$")
_KOREAN_DENIES = re.compile(r"불가|없|않|안\s|안됩|안\s?되|못|금지|어렵|비허용")
_KOREAN_ASSERTS = re.compile(r"가능|있|됩|되|된|제공|운영|합니다|한다|허용|받")


def is_asserted(text: str, span: tuple[int, int]) -> bool | None:
    """Whether a text asserts what stands in a place; False when it denies it, None when that cannot be told.

    >>> text = "It takes no reservations, WiFi is free, and takeout and delivery are not offered."
    >>> places = [(text.index(word), text.index(word) + len(word)) for word in ("reservations", "WiFi", "takeout")]
    >>> [is_asserted(text, place) for place in places]
    [False, True, False]
    """
    if _HANGUL.search(text, *span) is not None:
        return _is_asserted_in_korean(text, span[1])
    start, end = clause_of(text, span)
    if _UNSURE.search(text, start, end) is not None or text.rstrip().endswith("?"):
        return None
    if _JUST_BEFORE.search(text[max(start, span[0] - 25) : span[0]]) is not None:
        return False
    if _OWN_VERB.search(text, *span) is not None:
        return _said_before(text, (max(start, text.rfind(",", 0, span[0])), span[0]), end)
    said = _said_after(text, span[1], end)
    return _said_before(text, (start, span[0]), end) if said is None else said


def _is_asserted_in_korean(text: str, start: int) -> bool | None:
    """By the verb that follows: Korean denies at the end."""
    match = _KOREAN_END.search(text, start)
    end = match.end() if match is not None else len(text)
    if _KOREAN_DENIES.search(text, start, end) is not None:
        return False
    return True if _KOREAN_ASSERTS.search(text, start, end) is not None else None


def clause_of(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The clause around a place."""
    start, end = 0, len(text)
    breaks = [*_BREAK.finditer(text), *_NEW_SUBJECT.finditer(text)]
    for match in sorted(breaks, key=lambda each: each.start()):
        # In "takeout, WiFi, and delivery are offered" the comma ends no clause: no verb stands before it.
        if match.re is _NEW_SUBJECT and not _has_verb(text, start, match.start()):
            continue
        if match.group() == ": " and _DENIES.match(text, start) is not None:
            continue  # "Not available: WiFi, takeout"
        if match.end() <= span[0]:
            start = match.end()
        elif match.start() >= span[1]:
            end = match.start()
            break
    return start, end


def _has_verb(text: str, start: int, end: int) -> bool:
    return _VERB.search(text, start, end) is not None or _DENIES.search(text, start, end) is not None


def _said_after(text: str, start: int, end: int) -> bool | None:
    """What the verb after a place says of it, alone or as a part of a list: "takeout and delivery are not offered"."""
    colon = _COLON.match(text, start)
    if colon is not None:
        word = colon.group("value").lower()
        return False if word in _NOS else True if word in {"yes", "true", "free", "available", "oui"} else None
    match = _AFTER.search(text, start, min(end, start + _LONGEST_LIST))
    if match is None:
        return None
    between = _INSERTED.sub(" ", text[start : match.start()])
    if _DENIES.search(between) is not None or _ASSERTS.search(between) is not None:
        return None
    words = len(between.split())
    if _JOINED.search(between) is not None:
        return None  # "outdoor seating and is good for groups"
    # Other words than those of a list have a subject of their own: "WiFi, and the service is slow".
    if words > 2 and (_LISTED.search(between) is None or " the " in between or " it " in between):
        return None
    return not (match.group("not") or match.group("short"))


def _said_before(text: str, before: tuple[int, int], clause_end: int) -> bool | None:
    """Whether the last word before a place that denies or asserts is one that asserts."""
    start, end = before
    harmless = [match.span() for match in _NOT_DENYING.finditer(text, start, end)]
    denials = [
        match
        for match in _DENIES.finditer(text, start, end)
        if not any(first <= match.start() < last for first, last in harmless)
    ]
    if not denials:
        return True
    last = denials[-1]
    if any(_is_apart(text, last.end(), match.start()) for match in _ASSERTS.finditer(text, last.end(), end)):
        return True
    if len(denials) > 1 and last.start() - denials[-2].end() <= 2:
        return None  # "not without"
    if last.group().lower() not in _DETERMINERS or _LISTED.search(text, last.end(), end) is None:
        return False
    # "no A, B or C" denies all of them, "no A and B" may not.
    return False if _OR.search(text, last.end(), clause_end) is not None else None


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a verb stands apart from a denial, and not as in "does not currently offer"."""
    return _ABSORBED.fullmatch(text, start, end) is None
