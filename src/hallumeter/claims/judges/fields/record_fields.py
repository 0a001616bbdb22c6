"""Yes, no and null of a record, its small choices and its rating, against what a claim asserts or denies."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import Block, Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement
from hallumeter.text.quantities import number_words, value_of
from hallumeter.text.terms import terms_of

# How texts word the fields of records about places: "take-out", "to go" for RestaurantsTakeOut.

_GENERIC = frozenset({"restaurants", "business", "accepts", "has", "is", "offers", "by", "appointment"})
_GROUPS = {
    "parking": "parking",
    "music": "music",
    "ambience": "ambience",
    "ambiance": "ambience",
    "atmosphere": "ambience",
}
"""Objects whose keys are answers to one question, by the last word of their name."""

_WORDED = {
    "wifi": r"wi-?\s?fi\b|wireless internet|internet access",
    "takeout": (
        r"take-?\s?(?:outs?|away)\b|carry-?\s?outs?\b"
        r"|(?<!want )(?<!have )(?<!ready )(?<!place )(?<!need )(?<!plans )"
        r"to[- ]go\b(?! (?:to|back|for|in|with|out|there)\b)"
    ),
    "outdoorseating": (
        r"outdoor (?:seating|dining|tables?|seats?|patio|area)"
        r"|(?:seat(?:s|ing|ed)?|sit|tables?|din(?:e|ing)|eat(?:ing)?)"
        r" (?:available )?(?:outside|outdoors)|patio seating|al fresco"
    ),
    "reservations": r"reservations?\b|reserve (?:a |their |your )?(?:tables?|seats?)|book (?:a |their |your )?tables?",
    "goodforgroups": (
        r"(?:for|accommodat(?:es?|ing)|welcom(?:es?|ing)|suits?) (?:both )?(?:larger? |big |bigger )?(?:groups"
        r"|parties)\b"
        r"|groups (?:of any size )?(?:are|can be) (?:\w+ ){0,2}(?:welcome|accommodated)"
        r"|group[- ]friendly|for group (?:dining|outings)"
    ),
    "goodforkids": r"(?:kid|family|child)[- ]friendly|(?:good|suitable|great) for (?:kids|children|families)",
    "delivery": r"(?<!room )delivery\b|delivers\b",
    "happyhour": r"happy hours?\b",
    "wheelchairaccessible": r"wheelchair",
    "dogsallowed": r"(?:dog|pet)[- ]friendly|(?:dogs|pets) (?:are )?(?:allowed|welcome)",
    "tv": r"tvs?\b|televisions?\b",
    "creditcards": r"credit cards?",
    "bikeparking": r"bike (?:parking|racks?)|bicycle parking",
    "caters": r"catering\b|caters\b",
    "drivethru": r"drive-?\s?(?:thru|through)",
    "tableservice": r"table service",
    "parking": r"parking\b(?! (?:ticket|fee|spot))",
    "parking.street": (
        r"street parking|parking (?:\w+ ){0,5}?(?:on )?the street|park on the street|on-street|parking: street"
        r"|(?:in|lot|garage|valet)(?: parking)?,? (?:and|or) (?:on )?the street"
    ),
    "parking.garage": r"garage\b",
    "parking.lot": (
        r"(?:parking|private|own|nearby|dedicated|on-site|in (?:a|the|its)) lot\b"
        r"|(?:street and )?lot parking|\blot (?:for|with) (?:\w+ )?parking|parking: lot"
    ),
    "parking.valet": r"valet\b",
    "parking.validated": r"validat(?:ed|ion|es)\b",
    "music": r"live music\b|background music\b",
    "music.live": r"live (?:\w+ )?(?:music|bands?|performances?|jazz|entertainment|acts?|musicians)\b",
    "music.dj": r"djs?\b",
    "music.karaoke": r"karaoke\b",
    "music.jukebox": r"jukebox\b",
    "music.background": r"background music\b",
    "ambience.divey": r"divey\b|dive[- ]bar\b",
    **{
        f"ambience.{word}": rf"{word}\b"
        for word in ("romantic", "intimate", "touristy", "hipster", "classy", "trendy", "upscale", "casual")
    },
}
MEMBERS = {
    group: tuple(name for name in _WORDED if name.startswith(f"{group}.")) for group in ("parking", "music", "ambience")
}
_PATTERNS = {name: re.compile(rf"\b(?:{pattern})", re.IGNORECASE) for name, pattern in _WORDED.items()}
HINT = re.compile("|".join(f"(?:{pattern})" for pattern in _WORDED.values()), re.IGNORECASE)
"""Any of the words at all."""


@lru_cache(maxsize=512)
def field_name(path: tuple[str, ...]) -> str:
    """One name for a field however a record spells it; an empty string for no path.

    >>> field_name(("attributes", "Restaurants Take Out")), field_name(("Business Parking", "garage"))
    ('takeout', 'parking.garage')
    """
    if not path:
        return ""
    own = _bare(path[-1])
    group = _GROUPS.get(path[-2].lower().split()[-1]) if len(path) > 1 and path[-2] else None
    if group is not None:
        return f"{group}.{own.removesuffix('music') or own}"
    return _GROUPS.get(path[-1].lower().split()[-1], own) if path[-1].strip() and own != "bikeparking" else own


def _bare(key: str) -> str:
    words = key.lower().split()
    kept = [word for word in words if word not in _GENERIC]
    return "".join(kept or words)


def wording(name: str) -> re.Pattern[str] | None:
    """How texts word a field; None when it is none of the known ones."""
    return _PATTERNS.get(name)


# Whether a text asserts or denies what it names: "offers WiFi", "no WiFi", "WiFi is not available".

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


MISMATCH = "field_mismatch"
EMPTY = "field_empty"
_REMEMBERED = 8
_LONG_TEXT = 60
_SHORTEST_NAME = 4
_YES = frozenset({"yes", "true", "free", "paid", "full_bar", "full bar", "beer_and_wine", "oui", "예"})
_NO = frozenset({"no", "none", "false", "non", "아니요"})
_RATING_KEYS = frozenset({"stars", "rating", "business stars", "overall rating", "average rating", "business rating"})
_FREE = re.compile(r"\b(?:free|complimentary)\b(?! of charge)[\w\s]{0,12}$", re.IGNORECASE)
_FREE_AFTER = re.compile(
    r"[^,;.]{0,20}\b(?:free|complimentary)\b|[^,;.]{0,20}\bno (?:extra )?(?:charge|cost)\b", re.IGNORECASE
)
_PAID = re.compile(r"[^,;.]{0,20}\b(?:for a fee|paid|at a cost|for purchase)\b", re.IGNORECASE)
_NUMBER = r"(?:\d(?:\.\d{1,2})?|one|two|three|four|five)"
_STARS = re.compile(
    rf"(?<![\d.$–-])\b(?P<stars>{_NUMBER})(?P<half> and a half)?(?:[- ]stars?\b|[- ]out[- ]of[- ](?:5|five)\b"
    rf"|/5\b)(?: stars?)?"
    rf"|\brat(?:ed|ing)(?: of| is| at"
    rf"|:)?(?: an?)?(?: average)?(?: of)? (?P<rated>{_NUMBER})(?P<rated_half> and a half)?(?![\d%:])(?:[- ]stars?\b)?",
    re.IGNORECASE,
)
_OWN_RATING = re.compile(
    r"\b(?:rat(?:ed|ing)|holds?|has|have|with|earn(?:ed|s)|overall|average|scores?|carries)\b", re.IGNORECASE
)
_REVIEWER_STARS = re.compile(
    r"[- ](?:reviews?|reviewers?|customers?|diners?|guests?|visitors?|feedback|experience|hotel|comments?)",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\b(?:gave|gives?|giving|given|reviews?|reviewers?|awarded|range|ranging|between|removed|lost|deducted|each"
    r"|both|first|second|third|oldest|latest|another|other|last)\b",
    re.IGNORECASE,
)
_BY_REVIEWER = re.compile(r"\b(?:gave|reviewers?)\b", re.IGNORECASE)
_ABOUT_NUMBER = re.compile(r"\b(?:nearly|almost|about|around|over|above|below|under|close to|just)\s*$", re.IGNORECASE)
_HIGH = re.compile(
    r"\b(?:highly|well|top)[- ]rated\b|\b(?:highly|well)[- ]regarded\b|\bexcellent (?:reputation|rating"
    r"|reviews)\b|\bwell[- ]loved\b"
    r"|\b(?:high|impressive|stellar|outstanding|perfect|strong) (?:overall |average )?rating\b",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"\b(?:low|poor|mediocre|below-average) (?:overall |average )?rating\b|\bpoorly rated\b", re.IGNORECASE
)
_HIGHEST_POOR = 3.0
_LOWEST_GOOD = 4.0


class _Field(Struct, frozen=True):
    """A field that says yes, no or nothing."""

    name: str
    block: Block
    truth: bool | None


class _Fields(Struct, frozen=True):
    """What a record says that a claim can be checked against."""

    known: dict[str, _Field]
    """By the name of the field."""
    others: dict[tuple[str, ...], _Field]
    """Fields that are only known by their words."""
    rating: Block | None


def check_record_fields(statement: Statement) -> list[Finding]:
    """Fields of a record that the claim asserts or denies though they are otherwise, or null."""
    fields = _fields(statement.evidence)
    if fields is None:
        return []
    findings = _check_rating(statement, fields.rating) if fields.rating is not None else []
    if fields.known and HINT.search(statement.terms.text) is not None:
        findings += _check_known(statement, fields.known)
    for words, field in fields.others.items():
        span = _span_of_words(statement, words)
        if span is not None:
            findings += _compared(statement, field, span=span)
    return findings


@lru_cache(maxsize=_REMEMBERED)
def _fields(evidence: Evidence) -> _Fields | None:
    if not evidence.leaf_counts:
        return None
    known: dict[str, _Field] = {}
    others: dict[tuple[str, ...], _Field] = {}
    # Only where there is one value of a path is it clear what it speaks of.
    single = [
        block for block in evidence.blocks if block.leaf is not None and evidence.leaf_counts[block.leaf.path] == 1
    ]
    for block in single:
        is_choice, truth = _truth(block)
        path = block.leaf.path if block.leaf is not None and is_choice else ()
        name = field_name(path)
        if name and (wording(name) is not None or name in MEMBERS):
            for each in (name, *MEMBERS.get(name, ())):
                known.setdefault(each, _Field(each, block, truth))
        elif len(name) >= _SHORTEST_NAME and "." not in name:
            others[tuple(terms_of(path[-1]).keys)] = _Field(name, block, truth)
    ratings = [block for block in single if _is_rating(block)]
    return _Fields(known, others, ratings[0] if len(ratings) == 1 else None)


def _is_told(name: str, evidence: Evidence) -> bool:
    """Whether a long text of the record, such as a review, speaks of a field too."""
    pattern = wording(name)
    texts = [block.terms.text for block in evidence.blocks if len(block.terms.text) >= _LONG_TEXT]
    return pattern is not None and any(pattern.search(text) for text in texts)


def _is_rating(block: Block) -> bool:
    leaf = block.leaf
    if leaf is None or not leaf.path or leaf.path[-1].lower() not in _RATING_KEYS:
        return False
    is_number = isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
    return is_number and not any("review" in part.lower() for part in leaf.path)


def _truth(block: Block) -> tuple[bool, bool | None]:
    """Whether a value answers yes, no or nothing, and which of these."""
    assert block.leaf is not None
    value = block.leaf.value
    if value is None or isinstance(value, bool):
        return True, value
    word = block.leaf.text.strip("u'\" ").lower()
    return (True, True) if word in _YES else (True, False) if word in _NO else (False, None)


def _check_known(statement: Statement, known: dict[str, _Field]) -> list[Finding]:
    text = statement.terms.text
    findings: list[Finding] = []
    places: list[tuple[int, int]] = []
    for name, field in known.items():
        pattern = wording(name)
        if pattern is None or name == "parking":
            continue
        for match in pattern.finditer(text):
            places.append(match.span())
            findings += _compared(statement, field, span=match.span())
    if "parking" in known or "parking.street" in known:
        findings += _check_any_parking(statement, known, taken=places)
    return _one_for_each_place(findings)


def _one_for_each_place(findings: list[Finding]) -> list[Finding]:
    """The first of findings that overlap, in the order of the claim."""
    kept: list[Finding] = []
    for finding in findings:
        if not any(finding.start < other.end and other.start < finding.end for other in kept):
            kept.append(finding)
    return sorted(kept, key=lambda each: each.start)


def _check_any_parking(
    statement: Statement, known: dict[str, _Field], *, taken: list[tuple[int, int]]
) -> list[Finding]:
    """Parking of no kind in particular: there is some when any kind is true."""
    pattern = wording("parking")
    assert pattern is not None
    text = statement.terms.text
    specific = [span for name in MEMBERS["parking"] for span in _spans(name, text)]
    match = pattern.search(text)
    if match is None or specific or any(start <= match.start() < end for start, end in taken):
        return []
    members = [known[name] for name in MEMBERS["parking"] if name in known]
    field = known.get("parking") or next((each for each in members if each.truth), members[0])
    return _compared(statement, field, span=match.span())


def _spans(name: str, text: str) -> list[tuple[int, int]]:
    pattern = wording(name)
    return [match.span() for match in pattern.finditer(text)] if pattern is not None else []


def _compared(statement: Statement, field: _Field, *, span: tuple[int, int]) -> list[Finding]:
    """A finding when the claim says of a field what the record does not."""
    text = statement.terms.text
    said = is_asserted(text, span)
    is_other_price = field.name == "wifi" and said is True and _is_other_price(text, span, field.block)
    if said is None or (said is field.truth and not is_other_price):
        return []
    # A review may know what the field does not say, and a claim may tell what a review says.
    if (field.truth is None or speaks_of_reviews(text)) and _is_told(field.name, statement.evidence):
        return []
    return [_finding(statement, EMPTY if field.truth is None else MISMATCH, span=span, field=field)]


def _is_other_price(text: str, span: tuple[int, int], block: Block) -> bool:
    """Whether WiFi is called free that is paid, or paid that is free."""
    value = block.terms.text.strip("u'\" ").lower()
    if value == "paid":
        return bool(_FREE.search(text[: span[0]]) or _FREE_AFTER.match(text, span[1]))
    return value == "free" and _PAID.match(text, span[1]) is not None


def _finding(statement: Statement, reason: str, *, span: tuple[int, int], field: _Field) -> Finding:
    leaf = field.block.leaf
    assert leaf is not None
    said = statement.terms.text[span[0] : span[1]]
    verb = "says" if is_asserted(statement.terms.text, span) else "denies"
    note = f"response {verb} “{said}”, evidence says {' '.join(leaf.path[-2:])}: {leaf.text}"
    return Finding(reason, *span, note, (field.block.quote(0, len(field.block.terms.text)),))


def _span_of_words(statement: Statement, words: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the words of a field's name stand one after the other in the claim."""
    terms = statement.terms
    if not words or not all(words) or words[0] not in terms.keys:
        return None
    for place in range(len(terms) - len(words) + 1):
        if tuple(terms.keys[place : place + len(words)]) == words:
            return terms.starts[place], terms.ends[place + len(words) - 1]
    return None


def _check_rating(statement: Statement, block: Block) -> list[Finding]:
    text = statement.terms.text
    assert block.leaf is not None
    rating = float(block.leaf.text)
    for match in _STARS.finditer(text):
        stars = _stars(match)
        if stars is not None and stars != rating and _is_of_the_place(text, match):
            start = match.start("stars") if match.group("stars") else match.start("rated")
            return [_rating_finding(text, (start, match.end()), block)]
    for pattern, is_wrong in ((_HIGH, rating <= _HIGHEST_POOR), (_LOW, rating >= _LOWEST_GOOD)):
        praise = pattern.search(text) if is_wrong else None
        if praise is not None and _BY_REVIEWER.search(text) is None:
            return [_rating_finding(text, praise.span(), block)]
    return []


def _rating_finding(text: str, span: tuple[int, int], block: Block) -> Finding:
    note = f"response says “{text[span[0] : span[1]]}”, evidence says {block.terms.text} stars"
    return Finding(MISMATCH, *span, note, (block.quote(0, len(block.terms.text)),))


def _stars(match: re.Match[str]) -> float | None:
    said = (match.group("stars") or match.group("rated")).lower()
    half = 0.5 if match.group("half") or match.group("rated_half") else 0.0
    number = value_of(said) if said[0].isdecimal() else number_words("en").numbers[said]
    return None if number is None or number + half > 5 else number + half


def _is_of_the_place(text: str, match: re.Match[str]) -> bool:
    """Whether stars are those of the business and not of a review."""
    if _REVIEWER_STARS.match(text, match.end()) or _ABOUT_NUMBER.search(text[: match.start()]):
        return False
    start = max(text.rfind(mark, 0, match.start()) for mark in (";", ". ", ", and ", ", but "))
    ends = [place for mark in (";", ". ", ",") if (place := text.find(mark, match.end())) >= 0]
    clause = text[start + 1 : min(ends, default=len(text))]
    return _OWN_RATING.search(clause) is not None and _GIVEN.search(clause) is None
