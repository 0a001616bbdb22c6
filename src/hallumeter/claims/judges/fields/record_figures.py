"""Figures of a claim against those of a record: ratings, measures, named fields, rows of a table and ranges of a list.

A figure is found wrong only when the record has a field for it and gives no such number in any place, or when the claim
names the row and the column of which it is. What can be worked out of a list, as a mean or a count, is no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement, confirmed, is_confirmed
from hallumeter.text.quantities import number_words, value_of
from hallumeter.text.terms import fold, terms_of

from .records import Field, Record, record_of

REASON = "figure_mismatch"
_REMEMBERED = 8

# Numbers as texts and records write them.

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.,/:$€£x×])(?<![^\W\d_][-–])(?P<sign>[-−–](?=\d))?(?P<digits>{_DIGITS})(?![\d:/])(?!,\d)(?!(?:s|st|nd|rd|th)\b)"
)
_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-]*-)")
_ANY_NUMBER = re.compile(rf"[-−]?(?:{_DIGITS})")
_ABOUT = re.compile(
    r"\b(?:about|around|nearly|almost|roughly|approximately|approx\.?|over|under|above|below|more than|less than|up to"
    r"|close to|just|some|at least|at most|environ|près de|plus de)\s*(?:an?\s|of\s)?$|(?:약|~)\s*$",
    re.IGNORECASE,
)
_ABOUT_SLACK = 0.05
"""As the rules for numbers have it: the relative tolerance of a number that is meant to be approximate."""
_WORKED_OUT = re.compile(
    r"\b(?:average(?! rating)|averag(?:es|ed|ing)|mean|median|total\w*|combined|sum|difference|farther|further|longer"
    r"|shorter|more than|less than|margin|twice|half|double|moyenne|per (?:day|week|month|year))\b|평균|합계|차이",
    re.IGNORECASE,
)


class _Figure(Struct, frozen=True):
    """A number of a claim."""

    start: int
    end: int
    value: float
    decimals: int
    is_about: bool

    def agrees(self, other: float) -> bool:
        """Whether a number of the record may be meant: the same, rounded, cut off, or near when it is said to be."""
        distance = abs(self.value - other)
        step = 10.0**-self.decimals
        if self.is_about:
            return distance <= max(step, _ABOUT_SLACK * abs(other))
        return distance < step * 0.999 if other != round(other, self.decimals) else distance < 1e-9


def _figures(text: str, language: str) -> list[_Figure]:
    """The numbers of a claim in digits, and those in letters."""
    found = []
    for match in _NUMBER.finditer(text):
        value = _value(match.group("digits"))
        sign = -1.0 if match.group("sign") and not text[: match.start()].endswith(_DIGIT_ENDS) else 1.0
        fraction = re.search(r"[.,](\d{1,2})$", match.group("digits"))
        decimals = len(fraction.group(1)) if fraction is not None else 0
        is_about = _ABOUT.search(text[max(0, match.start() - 20) : match.start()]) is not None
        found.append(_Figure(match.start(), match.end(), sign * value, decimals, is_about))
    words = number_words(language).numbers
    for match in _WORD.finditer(text):
        number = words.get(fold(match.group()))
        if number is not None and number > 1:
            is_about = _ABOUT.search(text[max(0, match.start() - 20) : match.start()]) is not None
            found.append(_Figure(match.start(), match.end(), number, 0, is_about))
    return sorted(found, key=lambda each: each.start)


_DIGIT_ENDS = tuple("0123456789%°CF")
"""After these a dash joins a range: "5-10"."""


def _value(digits: str) -> float:
    value = value_of(digits)
    return value if value is not None else float(re.sub(r"\D", "", digits))


def _numbers_of(text: str) -> list[float]:
    return [float(re.sub(r"[−]", "-", each).replace(",", "")) for each in _PLAIN_NUMBER.findall(text)]


_PLAIN_NUMBER = re.compile(
    r"(?<![\w.-])[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\d.])(?<!\d-)[-−]?\d+(?:\.\d+)?|\d+(?:\.\d+)?"
)


# The record.

_UNIT_WORDS = {
    "mah": r"mAh",
    "mp": r"MP\b|megapixels?",
    "hz": r"Hz\b",
    "inch": r"(?:-|\s)?inch(?:es)?\b|″|-in\b",
    "nits": r"nits\b",
    "ppi": r"ppi\b",
    "w": r"W\b(?!i)|watts?\b",
    "g": r"g\b|grams?\b",
    "kmh": r"km/h\b",
    "km": r"km\b(?!/)|kilomet(?:er|re)s?\b",
    "eur": r"EUR\b|euros?\b|€",
    "usd": r"USD\b|dollars?\b",
    "entries": r"entries\b",
    "celsius": r"°\s?C\b|degrees? Celsius|℃",
    "mps": r"m/s\b",
    "hpa": r"hPa\b",
}
_UNITS = re.compile(
    r"[\s-]?(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _UNIT_WORDS.items()) + ")", re.IGNORECASE
)
_LISTED_UNITS = {
    "celsius": re.compile(r"(?:^|\s)(?:temp(?:erature)?|feels like|temp min|temp max)$", re.IGNORECASE),
    "mps": re.compile(r"^(?:wind )?(?:speed|gust)$", re.IGNORECASE),
    "hpa": re.compile(r"^pressure$", re.IGNORECASE),
}
"""Units of fields that come again in a list, as those of a forecast do: a claim may say any value between them."""
_LIST_SLACK = 1.0
"""What rounding to whole numbers, or cutting decimals off, may add."""
_HEADER_UNIT = re.compile(r"\((?P<unit>[^()]{1,12})\)\s*$")
_SMALL = 10.0


class _Named(Struct, frozen=True):
    """A field with one number in it that no other field is named like."""

    keys: tuple[str, ...]
    field: Field
    value: float


class _Figures:
    """The numbers of a record, by what they are of."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.rating = _rating(record)

    @cached_property
    def all(self) -> frozenset[float]:
        """Every number of the record, and how many values each list has."""
        numbers = {number for field in self.record.fields for number in _numbers_of(field.text)}
        return frozenset(numbers | {float(count) for count in self.record.counts.values()})

    @cached_property
    def derived(self) -> frozenset[float]:
        """Means, sums, counts and spreads of the values that come again under one name."""
        lists: dict[tuple[str, ...], list[float]] = {}
        for field in self.record.fields:
            number = value_of(field.text) if _ALONE.fullmatch(field.text) is not None else None
            if number is not None and self.record.counts[field.path] > 1:
                lists.setdefault(field.path, []).append(number)
        found = {float(count) for count in self.record.counts.values() if count > 1}
        for values in lists.values():
            found |= {sum(values), sum(values) / len(values), max(values) - min(values)}
        return frozenset(found)

    @cached_property
    def by_unit(self) -> dict[str, list[tuple[float, Field]]]:
        """Numbers with their units, the units in the name of a column too."""
        found: dict[str, list[tuple[float, Field]]] = {}
        for field in self.record.fields:
            header = _HEADER_UNIT.search(field.path[-1]) if field.path else None
            if header is not None and (unit := _unit_at(f"1 {header.group('unit')}", 1)) is not None:
                found.setdefault(unit, []).extend((number, field) for number in _numbers_of(field.text)[:1])
            for match in _ANY_NUMBER.finditer(field.text) if len(field.text) < _LONGEST_VALUE else ():
                unit = _unit_at(field.text, match.end())
                if unit is not None:
                    found.setdefault(unit, []).append((_value(match.group().lstrip("-−")), field))
        return found

    @cached_property
    def listed(self) -> dict[str, list[tuple[float, Field]]]:
        """Numbers of lists by the unit that is meant."""
        found: dict[str, list[tuple[float, Field]]] = {}
        for field in self.record.fields:
            if isinstance(field.value, bool) or not isinstance(field.value, int | float) or not field.path:
                continue
            for unit, name in _LISTED_UNITS.items():
                if name.search(field.path[-1].strip()) is not None:
                    found.setdefault(unit, []).append((float(field.value), field))
        return {unit: values for unit, values in found.items() if len(values) > 1}

    @cached_property
    def named(self) -> list[_Named]:
        """Fields whose name occurs once and whose value is one number."""
        found = []
        for field in self.record.single:
            numbers = _numbers_of(field.text)
            keys = tuple(key for key in terms_of(field.path[-1]).keys if key and key not in _EMPTY_KEYS)
            if len(numbers) == 1 and len(field.text.split()) <= 3 and 0 < len(keys) <= 3:
                found.append(_Named(keys, field, numbers[0]))
        return found

    @cached_property
    def rows(self) -> dict[str, dict[str, Field]]:
        """Values by the name of their row and of their column, where several rows have the same columns."""
        rows: dict[str, dict[str, Field]] = {}
        for field in self.record.fields:
            if len(field.path) > 1 and len(_numbers_of(field.text)) == 1:
                rows.setdefault(field.path[-2].strip(), {})[field.path[-1].strip()] = field
        return rows


_LONGEST_VALUE = 200
_EMPTY_KEYS = frozenset({"count", "number", "million", "usd", "value", "id", "per"})


def _unit_at(text: str, place: int) -> str | None:
    match = _UNITS.match(text, place)
    return match.lastgroup if match is not None else None


@lru_cache(maxsize=_REMEMBERED)
def _figures_of(evidence: Evidence) -> _Figures | None:
    record = record_of(evidence)
    return None if record is None else _Figures(record)


def check_record_figures(statement: Statement) -> list[Finding]:
    """Numbers of the claim that a record contradicts, and those of its rating and its rows that agree."""
    known = _figures_of(statement.evidence)
    text = statement.terms.text
    if known is None or not text.strip():
        return []
    findings = list(_check_rating(text, known.rating)) if known.rating is not None else []
    figures = _figures(text, statement.language)
    if figures:
        plain = [each for each in figures if not _is_worked_out(text, each)]
        findings += [*_check_resolution(text, known), *_check_figures(text, plain, known)]
        findings += [*_check_rows(text, figures, known), *_check_score(text, known)]
    return _one_for_each_place(sorted(findings, key=is_confirmed))


_NUMBER_REASONS = frozenset(
    {"number_not_found", "number_mismatch", "unit_mismatch", "money_mismatch", "percent_mismatch"}
)
_ALONE = re.compile(r"[-−]?\d[\d.,]*")


def without_derived(statement: Statement, findings: list[Finding]) -> list[Finding]:
    """The findings without those about a number that can be worked out of a list of the record."""
    if not any(finding.reason in _NUMBER_REASONS for finding in findings):
        return findings
    known = _figures_of(statement.evidence)
    if known is None or not known.derived:
        return findings
    figures = [
        each
        for each in _figures(statement.terms.text, statement.language)
        if any(each.agrees(number) for number in known.derived)
    ]
    return [
        finding
        for finding in findings
        if finding.reason not in _NUMBER_REASONS
        or not any(each.start < finding.end and finding.start < each.end for each in figures)
    ]


def _is_worked_out(text: str, figure: _Figure) -> bool:
    """Whether the words around a number say that it was worked out of others."""
    return _WORKED_OUT.search(text, max(0, figure.start - 40), figure.end + 20) is not None


_RESOLUTION = re.compile(r"(?<![\d.])(\d{3,4})\s?[x×*]\s?(\d{3,4})(?![\d.])")


def _check_resolution(text: str, known: _Figures) -> Iterator[Finding]:
    """Pixels of a screen, when the record has no such pair."""
    matches = list(_RESOLUTION.finditer(text))
    if not matches:
        return
    fields = [field for field in known.record.fields if _RESOLUTION.search(field.text) is not None]
    pairs = {frozenset(match.groups()) for field in fields for match in _RESOLUTION.finditer(field.text)}
    named = [field for field in fields if field.path and "resolution" in field.path[-1].lower()]
    for match in matches if len(named) == 1 else ():
        if frozenset(match.groups()) not in pairs:
            yield _finding(text, match.span(), named[0])


def _one_for_each_place(findings: list[Finding]) -> list[Finding]:
    kept: list[Finding] = []
    for finding in findings:
        if not any(finding.start < other.end and other.start < finding.end for other in kept):
            kept.append(finding)
    return sorted(kept, key=lambda each: each.start)


def _finding(text: str, span: tuple[int, int], field: Field) -> Finding:
    note = f"response says “{text[span[0] : span[1]]}”, evidence says {field.shown}"
    return Finding(REASON, *span, note, (field.quote,))


_OUT_OF = re.compile(r"(?:\bout of|/|\bsur)\s*$", re.IGNORECASE)
"""Before the second number of "4 out of 5", which is a scale and no value."""


def _check_figures(text: str, figures: Iterable[_Figure], known: _Figures) -> Iterator[Finding]:
    for figure in figures:
        if _OUT_OF.search(text[max(0, figure.start - 10) : figure.start]) is not None:
            continue
        unit = _unit_at(text, figure.end) or _unit_of_range(text, figure)
        end = match.end() if (match := _UNITS.match(text, figure.end)) is not None else figure.end
        field: Field | None
        if unit is not None and unit in known.listed:
            if _BOUND.search(text[max(0, figure.start - 20) : figure.start]) is not None:
                continue  # "below 5 m/s" gives no value
            field = _outside_of(figure, known.listed[unit], slack=_LIST_SLACK)
        elif any(figure.agrees(number) for number in known.all):
            continue
        else:
            field = _of_unit(figure, unit, known) if unit is not None else None
            field = field or _of_name(text, figure, known)
        if field is not None:
            yield _finding(text, (figure.start, end), field)


def _outside_of(figure: _Figure, values: list[tuple[float, Field]], *, slack: float) -> Field | None:
    """The least or the largest value of a list when a number is beyond it."""
    low, high = min(values, key=lambda each: each[0]), max(values, key=lambda each: each[0])
    slack = max(slack, _ABOUT_SLACK * abs(figure.value)) if figure.is_about else slack
    if low[0] - slack <= figure.value <= high[0] + slack:
        return None
    return low[1] if figure.value < low[0] else high[1]


def _of_unit(figure: _Figure, unit: str, known: _Figures) -> Field | None:
    """The field with the nearest number of a unit."""
    values = known.by_unit.get(unit, [])
    if not values or (unit in _SPREAD and len(values) > 1):
        return None
    return min(values, key=lambda each: abs(each[0] - figure.value))[1]


_SPREAD = frozenset({"km", "usd", "eur"})
"""Units of many things: where the record has several, only a name or a column tells which is meant."""
_BOUND = re.compile(r"\b(?:below|under|above|over|less than|more than|at least|at most|freezing)\s*$", re.IGNORECASE)
_UNTO = re.compile(r"\s*°?\s*(?:-|–|to|and|à|et)\s*[-−]?\d[\d.,]*")


def _unit_of_range(text: str, figure: _Figure) -> str | None:
    """The unit of the upper end, for the lower: "from 1001 to 1019 hPa"."""
    match = _UNTO.match(text, figure.end)
    return _unit_at(text, match.end()) if match is not None else None


_BEFORE = re.compile(r"(?:[\w’'-]+[\s:]+){1,5}$")
_AFTER = re.compile(r"[\s-]*(?:[\w’'-]+)(?:\s[\w’'-]+)?")


def _of_name(text: str, figure: _Figure, known: _Figures) -> Field | None:
    """The field with another number whose name stands right beside a number, before or after it."""
    after = _AFTER.match(text, figure.end)
    words = [set(terms_of(after.group()).keys)] if after is not None else []
    before = _BEFORE.search(text[max(0, figure.start - 60) : figure.start])
    if before is not None and text[figure.start].isdecimal():
        words.append(set(terms_of(before.group()).keys) | (words[0] if words else set()))
    for beside in words:
        fits = [each for each in known.named if all(_is_in(key, beside) for key in each.keys)]
        if len(fits) == 1 and not figure.agrees(fits[0].value):
            return fits[0].field
    return None


def _is_in(key: str, words: set[str]) -> bool:
    """Whether a word is among others; Korean words carry particles."""
    return key in words or (("가" <= key[0] <= "힣") and any(word.startswith(key) for word in words))


# The rating of a place.

_RATING_KEYS = frozenset({"stars", "rating", "business stars", "overall rating", "average rating", "business rating"})
_STAR_NUMBER = r"(?:\d(?:\.\d{1,2})?|one|two|three|four|five)"
_STARS = re.compile(
    rf"(?<![\d.$–-])\b(?P<stars>{_STAR_NUMBER})(?P<half> and a half)?(?:[- ]stars?\b|[- ]out[- ]of[- ](?:5|five)\b"
    rf"|/5\b)(?: stars?)?"
    rf"|\brat(?:ed|ing)(?: of| is| at|:)?(?: an?)?(?: average)?(?: of)? "
    rf"(?P<rated>{_STAR_NUMBER})(?P<rated_half> and a half)?(?![\d%:])(?! out of (?!5|five))(?!/(?!5\b))"
    rf"(?:[- ]out[- ]of[- ](?:5|five)\b|/5\b)?(?:[- ]stars?\b)?",
    re.IGNORECASE,
)
_OWN_RATING = re.compile(
    r"\b(?:rat(?:ed|ing)|holds?|has|have|with|earn(?:ed|s)|overall|average|scores?|carries)\b", re.IGNORECASE
)
_REVIEWER_STARS = re.compile(
    r"[- ](?:reviews?|reviewers?|customers?|diners?|guests?|visitors?|feedback|experience|hotel|comments?|and|to|or)\b",
    re.IGNORECASE,
)
_A_PLACE = re.compile(r"[- ](?:\w+ )?(?:restaurant|place|spot|cafe|bar|eatery|business|establishment)\b", re.IGNORECASE)
_GIVEN = re.compile(
    r"\b(?:g[ai]ves?|giving|given|reviews?|reviewers?|awarded|range|ranging|between|removed|lost|deducted|each|from"
    r"|both|first|second|third|oldest|latest|another|other|last|one|some|a (?:guest|customer|diner|visitor|parent))\b"
    r"|\bin (?:19|20)\d\d\b",
    re.IGNORECASE,
)
_MOST_STARS = 5.0


def _rating(record: Record) -> Field | None:
    found = [field for field in record.single if _is_rating(field)]
    return found[0] if len(found) == 1 else None


def _is_rating(field: Field) -> bool:
    if field.path[-1].lower() not in _RATING_KEYS or any("review" in part.lower() for part in field.path):
        return False
    number = value_of(field.text) if re.fullmatch(r"\d(?:\.\d+)?", field.text) else None
    return number is not None and number <= _MOST_STARS


def _check_rating(text: str, field: Field) -> Iterator[Finding]:
    rating = float(field.text)
    for match in _STARS.finditer(text):
        stars = _stars(match)
        if stars is None or not _is_of_the_place(text, match):
            continue
        span = match.start("stars") if match.group("stars") else match.start("rated"), match.end()
        yield confirmed(text, span, (field.quote,)) if stars == rating else _finding(text, span, field)


def _stars(match: re.Match[str]) -> float | None:
    said = (match.group("stars") or match.group("rated")).lower()
    half = 0.5 if match.group("half") or match.group("rated_half") else 0.0
    number = value_of(said) if said[0].isdecimal() else number_words("en").numbers[said]
    return None if number is None or number + half > _MOST_STARS else number + half


def _is_of_the_place(text: str, match: re.Match[str]) -> bool:
    """Whether stars are those of the business and not of a review."""
    if _REVIEWER_STARS.match(text, match.end()) or _ABOUT.search(text[: match.start()]):
        return False
    if _A_PLACE.match(text, match.end()):
        return True
    start = max(text.rfind(mark, 0, match.start()) for mark in (";", ". ", ", and ", ", but "))
    ends = [place for mark in (";", ". ", ",") if (place := text.find(mark, match.end())) >= 0]
    clause = text[start + 1 : min(ends, default=len(text))]
    return _OWN_RATING.search(clause) is not None and _GIVEN.search(_STARS.sub(" ", clause)) is None


# Rows: players of a game, models of a table.

_COLUMNS = {
    "PTS": r"points?",
    "REB": r"rebounds?|boards",
    "AST": r"assists?|dimes",
    "STL": r"steals?",
    "BLK": r"blocks?",
}
_COUNTED = re.compile(
    r"[\s-]*(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _COLUMNS.items()) + r")\b", re.IGNORECASE
)
_OTHER_TIME = re.compile(
    r"\b(?:combined|averag\w*|season|career|quarters?|half|halftime|bench|lead|run|straight|per|each|both|teams?|duo|trio"
    r"|last|previous|allowed|scoring|starters|unit|games?|nights?|minutes|more|fewer|trail\w*|deficit|high)\b",
    re.IGNORECASE,
)


def _check_rows(text: str, figures: Iterable[_Figure], known: _Figures) -> Iterator[Finding]:
    names = _rows_in(text, known.rows)
    if not names:
        return
    for figure in figures:
        before = [name for place, name in names if place < figure.start]
        row = known.rows[before[-1]] if before else None
        field = _cell(text, figure, row) if row is not None else None
        span = figure.start, figure.end
        if field is not None:
            agrees = figure.agrees(_numbers_of(field.text)[0])
            yield confirmed(text, span, (field.quote,)) if agrees else _finding(text, span, field)


def _rows_in(text: str, rows: dict[str, dict[str, Field]]) -> list[tuple[int, str]]:
    """Where a claim names a row, by its whole name or by a last name that is the only one."""
    lasts: dict[str, list[str]] = {}
    for name in rows:
        lasts.setdefault(name.split()[-1] if name.split() else "", []).append(name)
    found = []
    for match in _CAPITALS.finditer(text):
        said = " ".join(match.group().split())
        if said in rows:
            found.append((match.start(), said))
        elif len(lasts.get(said.split()[-1], ())) == 1:
            found.append((match.start(), lasts[said.split()[-1]][0]))
    return found


_CAPITALS = re.compile(r"[^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*)*")


def _cell(text: str, figure: _Figure, row: dict[str, Field]) -> Field | None:
    """The value of a row that a number is said of: by what is counted, or by the unit and name of a column."""
    counted = _COUNTED.match(text, figure.end)
    if counted is not None and _THREE_POINTERS.match(text, figure.start) is not None:
        return None
    if counted is not None and counted.lastgroup is not None:
        start = max(text.rfind(mark, 0, figure.start) for mark in (". ", ";", "\n")) + 1
        return None if _OTHER_TIME.search(text, start) is not None else row.get(counted.lastgroup)
    unit = _unit_at(text, figure.end)
    if unit is None or _WORKED_OUT.search(text) is not None:
        return None
    fits = [field for name, field in row.items() if (header := _HEADER_UNIT.search(name)) and _is_unit(header, unit)]
    return fits[0] if len(fits) == 1 else None


_THREE_POINTERS = re.compile(r"(?:three|3)\s?-\s?point", re.IGNORECASE)


def _is_unit(header: re.Match[str], unit: str) -> bool:
    return _unit_at(f"1 {header.group('unit')}", 1) == unit


# The score of a game.

_SCORE = re.compile(r"(?<![\d(.:-])(?P<one>\d{1,3})\s?[-–]\s?(?P<other>\d{1,3})(?![\d):-]|\.\d)")
_PLAYED = re.compile(
    r"\b(?:won|win|wins|beat|beats|defeat\w*|lost|loss|loses|drew|draw|victory|edged|downed|topped|final score)\b",
    re.IGNORECASE,
)
_PART_OF_GAME = re.compile(
    r"\b(?:half|halftime|quarter|season|aggregate|penalt\w+|minute|set|previous|record|run)\b", re.IGNORECASE
)


def _check_score(text: str, known: _Figures) -> Iterator[Finding]:
    """A pair of numbers that is not the score, where the claim tells who won."""
    scores = [field for field in known.record.fields if field.path and field.path[-1].strip().lower() in _SCORE_KEYS]
    if len(scores) != 2 or _PLAYED.search(text) is None or _PART_OF_GAME.search(text) is not None:
        return
    right = sorted(number for field in scores for number in _numbers_of(field.text)[:1])
    matches = [match for match in _SCORE.finditer(text) if not text[: match.start()].rstrip().endswith("(")]
    if len(matches) == 1 and sorted(map(float, matches[0].groups())) != right:
        yield _finding(text, matches[0].span(), scores[0])


_SCORE_KEYS = frozenset({"score", "goals", "team pts", "points"})
