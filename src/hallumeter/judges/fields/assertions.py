"""Whether a text asserts or denies what it names: "offers WiFi", "no WiFi", "WiFi is not available"."""

from __future__ import annotations

import re

_BREAK = re.compile(
    r"[;\n]|(?<!m)\.\s|\s[–—-]\s|,?\s(?:but|while|although|though|whereas|however|yet|despite)\s|\)\s|\s\(",
    re.IGNORECASE,
)
_NEW_SUBJECT = re.compile(
    r",\s(?:and|so|or)\s(?=(?:the|it|its|there|guests|visitors|they|nothing|no|neither)\b"
    r"|(?:[\w-]+\s){1,3}(?:is|are|can|does|do|may)\b|(?:does|do|is|are|has|offers|takes|accepts)\b)",
    re.IGNORECASE,
)
_RIGHT_BEFORE = re.compile(
    r"\b(?:no|without|neither|nor|neither (?:is|are)|nor (?:is|are))\s(?:(?:any|free|\w+ing)\s)?$", re.IGNORECASE
)
_DENIES = re.compile(
    r"\b(?:no|not|nor|neither|without|lacks?|lacking|never|none|cannot|rather than|instead of|pas"
    r"|aucune?|sans|ne)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_DENYING = re.compile(
    r"\b(?:not only|no longer than|no (?:extra |additional )?(?:charge|cost|fee)|not far|no doubt|not just)\b",
    re.IGNORECASE,
)
_ASSERTS = re.compile(
    r"\b(?:offers|has|provides|accepts|takes|features|includes|allows|boasts|serves"
    r"|(?:is|are|there is|there are|can|may)(?!\s(?:\w+\s)?(?:not|no|neither|nor)\b)"
    r"|offering|featuring|including|with)\b",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"\b(?P<verb>is|are|was|were|can|may|will|does|do)\b"
    r"(?P<not>\s(?:\w+ly\s|also\s|both\s|marked as\s|listed as\s)?(?:not|never|neither|unavailable)\b)?"
    r"|\b(?P<short>isn['’]t|aren['’]t|cannot|can['’]t|doesn['’]t|don['’]t)(?!\w)|(?P<colon>:)\s*(?P<value>[\w-]+)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|does|do|can|may|offers?|provides?|accepts?|takes?|features|includes"
    r"|allows|boasts|serves|suits|opens?|holds|welcomes)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:,|\band\b|\bor\b|\bas well as\b|&)", re.IGNORECASE)
_LONGEST_LIST = 60
_SAYS_NOTHING = re.compile(
    r"\b(?:not|n['’]t|never|un) ?(?:\w+ )?(?:specif\w+|mention\w*|list(?:ed)?|indicat\w+|stat(?:e|ed)|clear|known"
    r"|given|disclosed|noted|say)\b"
    r"|\bno (?:\w+ )?(?:information|mention|details?|data|word|indication)\b|\bun(?:known|clear|specified|listed)\b"
    r"|\bnothing\b|\binformation\b|\bwhether\b|\bif\b|\bunsure\b|\bnull\b|미상|알 수 없",
    re.IGNORECASE,
)
_REVIEWS = re.compile(
    r"\b(?:review\w*|customers?|diners?|patrons?|visitors?|feedback|complain\w*|prais\w+|critici\w+|regulars?"
    r"|(?:one|another|a|an|some|several|other|two|three) (?:\w+[- ]){0,2}(?:guests?|person|people|family|couple))\b",
    re.IGNORECASE,
)
_NOS = ("no", "not", "none", "false", "unavailable", "non")


def speaks_of_reviews(text: str) -> bool:
    """Whether a text tells what customers say."""
    return _REVIEWS.search(text) is not None


def is_asserted(text: str, span: tuple[int, int]) -> bool | None:
    """Whether a text asserts what stands in a place; False when it denies it, None when it says neither.

    >>> text = "It takes no reservations, WiFi is free, and takeout and delivery are not offered."
    >>> places = [(text.index(word), text.index(word) + len(word)) for word in ("reservations", "WiFi", "takeout")]
    >>> [is_asserted(text, place) for place in places]
    [False, True, False]
    """
    start, end = _clause(text, span)
    if _SAYS_NOTHING.search(text, start, end) is not None or text.rstrip().endswith("?"):
        return None
    if _RIGHT_BEFORE.search(text[max(start, span[0] - 20) : span[0]]) is not None:
        return False
    said = _said_after(text, span[1], end)
    if said is not None:
        return said
    return not _is_denied_before(text, start, span[0])


def _said_after(text: str, start: int, end: int) -> bool | None:
    """What the verb after a place says of it, alone or as a part of a list: "takeout and delivery are not offered"."""
    match = _COPULA.search(text, start, min(end, start + _LONGEST_LIST))
    if match is None:
        return None
    between = text[start : match.start()]
    if _DENIES.search(between) is not None or _ASSERTS.search(between) is not None:
        return None
    words = len(between.split())
    if match.group("colon"):
        return None if words else not match.group("value").lower().startswith(_NOS)
    # Other words than those of a list have a subject of their own: "WiFi, and the service is slow".
    if words > 2 and (_LISTED.search(between) is None or " the " in between or " it " in between):
        return None
    return not (match.group("not") or match.group("short"))


def _clause(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The clause around a place."""
    start, end = 0, len(text)
    breaks = [*_BREAK.finditer(text), *_NEW_SUBJECT.finditer(text)]
    for match in sorted(breaks, key=lambda each: each.start()):
        # In "takeout, WiFi, and delivery are offered" the comma ends no clause: no verb stands before it.
        if match.re is _NEW_SUBJECT and not _has_verb(text, start, match.start()):
            continue
        if match.end() <= span[0]:
            start = match.end()
        elif match.start() >= span[1]:
            end = match.start()
            break
    return start, end


def _has_verb(text: str, start: int, end: int) -> bool:
    return _VERB.search(text, start, end) is not None or _DENIES.search(text, start, end) is not None


def _is_denied_before(text: str, start: int, end: int) -> bool:
    """Whether the last word before a place that denies or asserts is one that denies."""
    denials = [match.start() for match in _DENIES.finditer(text, start, end)]
    harmless = [match.span() for match in _NOT_DENYING.finditer(text, start, end)]
    denials = [place for place in denials if not any(first <= place < last for first, last in harmless)]
    if not denials:
        return False
    return not any(match.start() > denials[-1] for match in _ASSERTS.finditer(text, start, end))
