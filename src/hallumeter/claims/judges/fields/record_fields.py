"""Yes, no and null of a record and its small choices, against what a claim asserts or denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement, confirmed, is_confirmed
from hallumeter.text.terms import Terms, terms_of

from .assertion import clause_of, is_asserted
from .records import Field, Record, record_of

# How texts word the fields of records: "take-out", "to go" for RestaurantsTakeOut.

_GENERIC = frozenset({"restaurants", "business", "accepts", "has", "is", "offers", "by", "appointment"})
_GROUPS = {
    "parking": "parking",
    "music": "music",
    "ambience": "ambience",
    "ambiance": "ambience",
    "atmosphere": "ambience",
}
"""Objects whose keys are answers to one question, by the last word of their name."""
_ALIASES = {
    "wi-fi": "wifi",
    "internet": "wifi",
    "petsallowed": "dogsallowed",
    "livemusic": "music.live",
    "terrasse": "outdoorseating",
    "réservation": "reservations",
    "réservations": "reservations",
    "livraison": "delivery",
    "àemporter": "takeout",
    "animauxacceptés": "dogsallowed",
    "stationnement": "parking",
    "주차": "parking",
    "와이파이": "wifi",
    "예약": "reservations",
    "포장": "takeout",
    "배달": "delivery",
    "반려동물": "dogsallowed",
    "야외좌석": "outdoorseating",
}
_WORDED = {
    "wifi": r"wi-?\s?fi\b|wireless internet|internet access|와이파이|무선 ?인터넷",
    "takeout": (
        r"take-?\s?(?:outs?|away)\b|carry-?\s?outs?\b|à emporter|포장|테이크아웃"
        r"|(?<!want )(?<!have )(?<!ready )(?<!place )(?<!need )(?<!plans )"
        r"to[- ]go\b(?! (?:to|back|for|in|with|out|there)\b)"
    ),
    "outdoorseating": (
        r"outdoor (?:seating|dining|tables?|seats?|patio|area)"
        r"|(?:seat(?:s|ing|ed)?|sit|tables?|din(?:e|ing)|eat(?:ing)?)"
        r" (?:available )?(?:outside|outdoors)|patio seating|al fresco|terrasse|야외 ?(?:좌석|테이블|석)|테라스"
    ),
    "reservations": (
        r"(?<!small )(?<!minor )(?<!some )(?<!slight )(?<!few )reservations?\b(?! (?:about|regarding|over))"
        r"|reserve (?:a |their |your )?(?:tables?|seats?)|book (?:a |their |your )?tables?|réservations?\b|예약"
    ),
    "goodforgroups": (
        r"(?:for|accommodat(?:es?|ing)|welcom(?:es?|ing)|suits?) (?:both )?(?:larger? |big |bigger )?(?:groups"
        r"|parties)\b"
        r"|groups (?:of any size )?(?:are|can be) (?:\w+ ){0,2}(?:welcome|accommodated)"
        r"|group[- ]friendly|for group (?:dining|outings)"
    ),
    "goodforkids": r"(?:kid|family|child)[- ]friendly|(?:good|suitable|great) for (?:kids|children|families)",
    "delivery": r"(?<!room )delivery\b|delivers\b|livraison\b|배달",
    "happyhour": r"happy hours?\b",
    "wheelchairaccessible": r"wheelchair[- ]accessib\w+",
    "dogsallowed": (
        r"(?:dog|pet)[- ]friendly|(?:dogs|pets) (?:are )?(?:allowed|welcome)|(?:allows?|welcomes?) (?:dogs|pets)"
        r"|animaux\b|반려동물|반려견"
    ),
    "tv": r"tvs?\b|televisions?\b",
    "creditcards": r"credit cards?",
    "bikeparking": r"bike (?:parking|racks?)|bicycle parking",
    "caters": r"catering\b|caters\b",
    "drivethru": r"drive-?\s?(?:thru|through)",
    "tableservice": r"table service",
    "alcohol": r"alcohol\b(?!-free)|alcoholic (?:drinks|beverages)",
    "parking": r"(?<!bike )(?<!bicycle )parking\b(?! (?:tickets?|fees?|spot))|stationnement|주차",
    "parking.street": (
        r"street parking|parking (?:\w+ ){0,5}?(?:on )?the street|park on the street|on-street|parking: street"
        r"|(?:in|lot|garage|valet)(?: parking)?,? (?:and|or) (?:on )?the street|street,? (?:and|or|nor) valet"
    ),
    "parking.garage": (
        r"garage parking|parking garages?\b|(?:in|into|at) (?:a|an|the|its|their)(?: \w+)? garage\b"
        r"|(?:no|a|the|its) garage\b(?! \w+(?: \w+)? (?:band|sale|rock))|garage(?=,? (?:and|or|nor) (?:\w+ )?parking)"
    ),
    "parking.lot": (
        r"(?:parking|private|own|dedicated|on-site|in (?:a|the|its)|the|no) lot\b(?! of)"
        r"|(?:street and )?lot parking|\blot (?:for|with) (?:\w+ )?parking|parking: lot"
    ),
    "parking.valet": r"valet (?:parking|service)|valet\b",
    "parking.validated": r"validated parking|parking validation|validates? parking",
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
    "wlan": r"wi-?\s?fi\b|wlan\b",
    "cardslot": (
        r"(?:memory|micro-?sd|sd|expansion) card (?:slots?|support)|(?<!sim )(?<!sim-)(?<!\w )card slots?\b"
        r"|(?:a|no|any|the|dedicated) card slots?\b|expandable (?:storage|memory)|(?:storage|memory) expansion"
    ),
    "3.5mmjack": (r"(?<!2\.5mm )(?<!2\.5 mm )(?:headphone|earphone) jack|3\.5 ?mm (?:audio |headphone |stereo )?jack"),
    "nfc": r"nfc\b",
    "infraredport": r"infrared port|ir blaster",
    "loudspeaker": r"loudspeakers?\b",
    "radio": r"fm radio\b|built-in radio\b|radio\b(?! (?:frequenc|wave|access|net|stat))",
}
_PRESENT = frozenset({"wlan", "cardslot", "nfc", "infraredport", "radio", "loudspeaker"})
"""Parts of a device: a description of one says that it is there."""
_CHOICES = {
    "noiselevel": (
        r"noise levels?",
        {"quiet": r"quiet", "average": r"average|moderate", "loud": r"(?:very )?loud|noisy"},
    ),
    "attire": (r"attire|dress code", {"casual": r"casual", "dressy": r"dressy", "formal": r"formal"}),
}
"""Fields with one of a few values: how the field is named, and how each value is worded."""
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
    if not path or not path[-1].strip():
        return ""
    own = _bare(path[-1])
    above = path[-2].lower().split() if len(path) > 1 else []
    group = _GROUPS.get(above[-1]) if above else None
    if group is not None:
        return f"{group}.{own.removesuffix('music') or own}"
    name = own if own in {"bikeparking", "livemusic"} else _GROUPS.get(path[-1].lower().split()[-1], own)
    return _ALIASES.get(name, name)


def _bare(key: str) -> str:
    words = key.lower().split()
    kept = [word for word in words if word not in _GENERIC]
    return "".join(kept or words)


MISMATCH = "field_mismatch"
EMPTY = "field_empty"
_REMEMBERED = 8
_SHORTEST_NAME = 4
_YES = frozenset(
    {"yes", "true", "free", "paid", "full_bar", "full bar", "beer_and_wine", "oui", "vrai", "gratuit", "payant"}
    | {"예", "네", "가능", "있음", "무료", "유료", "available", "included"}
)
_NO = frozenset(
    {"no", "none", "false", "non", "faux", "unavailable", "not available", "아니요", "아니오", "불가", "불가능", "없음"}
)
_UNREAD = frozenset({"unspecified", "tbc", "tba", "n/a", "unknown", ""})
_REVIEWS = re.compile(
    r"\b(?:review\w*|feedback|complain\w*|prais\w+|critici\w+|regulars?|said|reported|recall\w*|recount\w*|noted|another|waited"
    r"|(?:one|another|a|an|some|several|other|two|three) (?:\w+[- ]){0,2}(?:guests?|person|people|family|couple"
    r"|customers?|diners?|visitors?|patrons?))\b",
    re.IGNORECASE,
)
_VISITORS = re.compile(r"\b(?:customers?|diners?|patrons?|visitors?|guests?)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:nearby|next to|across|around the corner|belong\w*|public|municipal|down from|doors down|close by|adjacent"
    r"|neighbou?ring|used to|previously|formerly)\b",
    re.IGNORECASE,
)
_NAMED = frozenset({"name", "address", "street", "city", "title", "nom", "adresse", "ville", "이름", "주소"})
_ADDRESS = re.compile(
    r"\b(?:[A-Z0-9][\w.'’-]*\s){1,3}(?:Street|St|Lane|Ln|Road|Rd|Avenue|Ave|Boulevard|Blvd|Drive|Dr|Way|Square|Sq|Plaza"
    r"|Court|Ct|Parkway|Pkwy|Highway|Hwy)\b\.?"
)
_FACILITIES = re.compile(
    r"\b(?:facilities|amenities|features|services|equipment|options|attributes|attributs|équipements)$|시설|속성|편의",
    re.IGNORECASE,
)
_FREE = re.compile(r"\b(?:free|complimentary)\b(?! of charge)[\w\s]{0,12}$", re.IGNORECASE)
_FREE_AFTER = re.compile(
    r"[^,;.]{0,20}\b(?:free|complimentary|gratuit)\b|[^,;.]{0,20}\bno (?:extra )?(?:charge|cost)\b", re.IGNORECASE
)
_PAID = re.compile(r"[^,;.]{0,20}\b(?:for a fee|paid|at a cost|for purchase|payant)\b", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([\w'’-]+)[\s*“\"]*$")
_MAY_PRECEDE = re.compile(
    r"(?:an?|the|no|any|its|his|her|their|with|without|ha(?:s|ve|d|ving)|(?:offer|support|featur|includ|lack|provid)\w*"
    r"|and|or|n?either|nor|not|both|also|but|own|hotel['’]s|free|get|heated|swimming|indoor|outdoor|private|large|small|full|dedicated|built-in|on-site"
    r"|une?|l[ea]|des?|pas|of|for)",
    re.IGNORECASE,
)
"""Words after which the name of a field is a noun of its own; after others it may be a part of one: "SIM card slot"."""
_WORD_AFTER = re.compile(r"[\s*]*([\w'’-]+)")
_MAY_FOLLOW = re.compile(
    r"(?:is|are|was|were|and|n?or|but|with|for|in|on|at|to|can|may|do|does|which|that|though|while|as|available|offered"
    r"|provided|included|allowed|here|there|et|ou|est|sont|only|too|support|connectivity|functionality|capabilities)",
    re.IGNORECASE,
)


class _Answer(Struct, frozen=True):
    """A field that says yes, no or nothing."""

    name: str
    field: Field
    truth: bool | None


class _Answers(Struct, frozen=True):
    """What a record says that a claim can be checked against."""

    record: Record
    known: dict[str, _Answer]
    """By the name of the field."""
    others: dict[tuple[str, ...], _Answer]
    """Fields that are only known by their words."""
    choices: dict[str, Field]
    named: tuple[str, ...]
    """Names and addresses of the record, lowered: their words name no field."""


def check_record_fields(statement: Statement) -> list[Finding]:
    """Fields of a record that the claim asserts or denies: those that are otherwise, or null, and those that agree."""
    answers = _answers(statement.evidence)
    if answers is None:
        return []
    text = _without_names(statement.terms.text, answers.named)
    findings: list[Finding] = []
    if answers.known and HINT.search(text) is not None:
        findings += _check_known(text, answers)
    for words, answer in answers.others.items():
        span = _span_of_words(statement.terms, words)
        if span is not None and text[span[0] : span[1]] == statement.terms.text[span[0] : span[1]]:
            findings += _compared(text, answers, answer, span=span)
    for name, field in answers.choices.items():
        findings += _check_choice(text, name, field)
    return _one_for_each_place(sorted(findings, key=is_confirmed))


@lru_cache(maxsize=_REMEMBERED)
def _answers(evidence: Evidence) -> _Answers | None:
    record = record_of(evidence)
    if record is None:
        return None
    known: dict[str, _Answer] = {}
    others: dict[tuple[str, ...], _Answer] = {}
    choices: dict[str, Field] = {}
    for field in record.single:
        name = field_name(field.path)
        is_known = name in _PATTERNS or name in MEMBERS
        is_answer, truth = _truth(field, name=name, is_known=is_known)
        if name in _CHOICES:
            choices[name] = field
        elif is_answer and is_known:
            # What is null or false as a whole is so in each of its parts.
            for each in (name, *(MEMBERS.get(name, ()) if not truth else ())):
                known.setdefault(each, _Answer(each, field, truth))
        elif is_answer and truth is not None and _tells_by_name(name, field):
            others[tuple(terms_of(field.path[-1]).keys)] = _Answer(name, field, truth)
    named = tuple(
        field.text.lower()
        for field in record.fields
        if field.path and field.path[-1].strip().lower() in _NAMED and 2 < len(field.text) < 80
    )
    return _Answers(record, known, others, choices, tuple(dict.fromkeys(named)))


def _tells_by_name(name: str, field: Field) -> bool:
    """Whether a field is known by its words alone: one word and a boolean, as "winner", is so only of a facility."""
    if len(name) < _SHORTEST_NAME or "." in name:
        return False
    words = [key for key in terms_of(field.path[-1]).keys if key]
    is_facility = len(field.path) > 1 and _FACILITIES.search(field.path[-2]) is not None
    return len(words) > 1 or not isinstance(field.value, bool) or is_facility


def _truth(field: Field, *, name: str, is_known: bool) -> tuple[bool, bool | None]:
    """Whether a value answers yes, no or nothing, and which of these."""
    value = field.value
    if value is None or isinstance(value, bool):
        return True, value
    word = field.text.removeprefix("u'").strip("'\" ").lower()
    if word in _YES or word in _NO:
        return True, word in _YES
    if is_known and word in {"0", "1"}:
        return True, word == "1"
    first = re.match(r"(yes|no)\b(?!.*depend)", word)
    if first is not None and (is_known or len(word) < 30):
        return True, first.group(1) == "yes"
    is_described = name in _PRESENT and word not in _UNREAD and "depend" not in word and not word.startswith("no")
    return is_described, True


def _without_names(text: str, named: Iterable[str]) -> str:
    """A claim with letters that say nothing in the place of addresses and of names of the record."""
    lowered = text.lower()
    places = [match.span() for match in _ADDRESS.finditer(text)]
    for name in named:
        start = lowered.find(name)
        if start >= 0:
            places.append((start, start + len(name)))
    for start, end in places:
        text = f"{text[:start]}{'x' * (end - start)}{text[end:]}"
    return text


def _check_known(text: str, answers: _Answers) -> list[Finding]:
    findings: list[Finding] = []
    places: list[tuple[int, int]] = []
    for name, answer in answers.known.items():
        if name == "parking":
            continue
        for span in _spans(name, text):
            places.append(span)
            findings += _compared(text, answers, answer, span=span)
    if "parking" in answers.known or any(name in answers.known for name in MEMBERS["parking"]):
        findings += _check_any_parking(text, answers, taken=places)
    return findings


def _one_for_each_place(findings: list[Finding]) -> list[Finding]:
    """The first of findings that overlap, in the order of the claim."""
    kept: list[Finding] = []
    for finding in findings:
        if not any(finding.start < other.end and other.start < finding.end for other in kept):
            kept.append(finding)
    return sorted(kept, key=lambda each: each.start)


def _check_any_parking(text: str, answers: _Answers, *, taken: list[tuple[int, int]]) -> list[Finding]:
    """Parking of no kind in particular: there is some when any kind is true."""
    specific = [span for name in MEMBERS["parking"] for span in _spans(name, text)]
    match = _PATTERNS["parking"].search(text)
    if match is None or specific or any(start <= match.start() < end for start, end in taken):
        return []
    members = [answers.known[name] for name in MEMBERS["parking"] if name in answers.known]
    answer = answers.known.get("parking") or next((each for each in members if each.truth), members[0])
    if len({each.truth for each in members}) > 1 and not answer.truth:
        return []  # some are null
    return _compared(text, answers, answer, span=match.span())


def _spans(name: str, text: str) -> Iterator[tuple[int, int]]:
    pattern = _PATTERNS.get(name)
    return (match.span() for match in pattern.finditer(text)) if pattern is not None else iter(())


def _compared(text: str, answers: _Answers, answer: _Answer, *, span: tuple[int, int]) -> list[Finding]:
    """A finding when the claim says of a field what the record does not, or the same."""
    said = is_asserted(text, span)
    is_other_price = answer.name == "wifi" and said is True and _is_other_price(text, span, answer.field)
    if said is None:
        return []
    if said is answer.truth and not is_other_price:
        return [confirmed(text, span, (answer.field.quote,))]
    start, end = clause_of(text, span)
    if _ELSEWHERE.search(text, start, end) is not None or _REVIEWS.search(text) is not None:
        return []
    # A review may know what the field does not say, and a claim may tell what a review says.
    is_doubtful = answer.truth is None or _VISITORS.search(text) is not None
    if is_doubtful and _is_told(answer.name, answers.record):
        return []
    return [_finding(text, EMPTY if answer.truth is None else MISMATCH, span=span, said=said, field=answer.field)]


def _is_told(name: str, record: Record) -> bool:
    """Whether a long text of the record, such as a review, speaks of a field too."""
    pattern = _PATTERNS.get(name)
    return pattern is not None and any(pattern.search(text) for text in record.texts)


def _is_other_price(text: str, span: tuple[int, int], field: Field) -> bool:
    """Whether WiFi is called free that is paid, or paid that is free."""
    value = field.text.removeprefix("u'").strip("'\" ").lower()
    if value in {"paid", "payant", "유료"}:
        return bool(_FREE.search(text[: span[0]]) or _FREE_AFTER.match(text, span[1]))
    return value in {"free", "gratuit", "무료"} and _PAID.match(text, span[1]) is not None


def _finding(text: str, reason: str, *, span: tuple[int, int], said: bool, field: Field) -> Finding:
    verb = "says" if said else "denies"
    note = f"response {verb} “{text[span[0] : span[1]]}”, evidence says {field.shown}"
    return Finding(reason, *span, note, (field.quote,))


def _check_choice(text: str, name: str, field: Field) -> list[Finding]:
    """A value of a field that has one of a few, given right beside the name of the field."""
    naming, values = _CHOICES[name]
    given = field.text.removeprefix("u'").strip("'\" ").lower()
    for wording in values.values():
        beside = rf"\b(?:{naming})(?: is| was|:)? (?:\w+ly )?({wording})\b|\b({wording}) (?:{naming})\b"
        match = re.search(beside, text, re.IGNORECASE)
        if match is None:
            continue
        span = match.span(1) if match.group(1) else match.span(2)
        if re.fullmatch(wording, given.replace("_", " ")) is not None:
            return [confirmed(text, span, (field.quote,))]
        if given in values:
            return [_finding(text, MISMATCH, span=span, said=True, field=field)]
    return []


def _span_of_words(terms: Terms, words: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the words of a field's name stand one after the other in the claim, as a noun of their own."""
    if not words or not all(words) or words[0] not in terms.keys:
        return None
    for place in range(len(terms) - len(words) + 1):
        if tuple(terms.keys[place : place + len(words)]) == words:
            span = terms.starts[place], terms.ends[place + len(words) - 1]
            return span if _stands_alone(terms.text, span) else None
    return None


def _stands_alone(text: str, span: tuple[int, int]) -> bool:
    before = _WORD_BEFORE.search(text, max(0, span[0] - 30), span[0])
    after = _WORD_AFTER.match(text, span[1])
    if before is not None and _MAY_PRECEDE.fullmatch(before.group(1)) is None:
        return False
    return after is None or _MAY_FOLLOW.fullmatch(after.group(1)) is not None
