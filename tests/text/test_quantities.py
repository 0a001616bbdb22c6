"""Numbers with value, unit, kind and place. All expected values are worked out by hand."""

from __future__ import annotations

import pytest

from hallumeter.text.quantities import Quantity, find_quantities, number_at, readings
from hallumeter.text.terms import terms_of
from hallumeter.text.units import UNITS, is_currency, unit_named


def one(text: str, language: str = "en") -> Quantity:
    found = find_quantities(text, language=language)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1,234.5 people", "en", 1234.5),
        ("1 234,5 habitants", "fr", 1234.5),
        ("1\u202f234\u202f567 habitants", "en", 1_234_567.0),
        ("1.234,5 habitants", "fr", 1234.5),
        ("1,234,567 people", "en", 1_234_567.0),
        ("1.234.567 habitants", "fr", 1_234_567.0),
        ("12,34,567 people", "en", 1_234_567.0),
        ("0,5 ou moins", "fr", 0.5),
        ("999 million users", "en", 999e6),
        ("1.2 billion users", "en", 1.2e9),
        ("2,5 milliards", "fr", 2.5e9),
        ("1,5 billion", "fr", 1.5e12),
        ("3 hundred thousand", "en", 300_000.0),
        ("twenty-five men", "en", 25.0),
        ("two hundred and five men", "en", 205.0),
        ("three million five hundred thousand", "en", 3_500_000.0),
        ("three dozen eggs", "en", 36.0),
        ("dozen eggs", "en", 12.0),
        ("soixante-douze voix", "fr", 72.0),
        ("quatre-vingt-dix-neuf voix", "fr", 99.0),
        ("quatre-vingts voix", "fr", 80.0),
        ("dix-sept voix", "fr", 17.0),
        ("vingt et un délégués", "fr", 21.0),
        ("mille deux cents voix", "fr", 1200.0),
        ("cent voix", "fr", 100.0),
        ("un million de voix", "fr", 1e6),
        ("35만 명", "ko", 350_000.0),
        ("3만 5천 명", "ko", 35_000.0),
        ("1억 2천만 표", "ko", 120_000_000.0),
        ("1조 2,000억 표", "ko", 1_200_000_000_000.0),
        ("1.5만 명", "ko", 15_000.0),
        ("5천 명", "ko", 5000.0),
        ("삼백 명", "ko", 300.0),
        ("오십만 명", "ko", 500_000.0),
        ("백만 명", "ko", 1_000_000.0),
        ("열두 명", "ko", 12.0),
        ("스물다섯 명", "ko", 25.0),
        ("세 마리", "ko", 3.0),
        ("120명", "ko", 120.0),
    ],
)
def test_numbers_are_read_in_several_notations(text: str, language: str, value: float) -> None:
    quantity = one(text, language)
    assert quantity.value == pytest.approx(value)
    assert quantity.kind == "number"


@pytest.mark.parametrize(
    ("text", "language", "kind", "symbol", "value"),
    [
        ("12%", "en", "percent", "%", 12.0),
        ("12 per cent", "en", "percent", "%", 12.0),
        ("twelve percent", "en", "percent", "%", 12.0),
        ("12 pour cent", "fr", "percent", "%", 12.0),
        ("12퍼센트", "ko", "percent", "%", 12.0),
        ("$1.2 billion", "en", "money", "USD", 1.2e9),
        ("US$ 3.5M", "en", "money", "USD", 3.5e6),
        ("€20", "en", "money", "EUR", 20.0),
        ("20 €", "fr", "money", "EUR", 20.0),
        ("50 dollars", "en", "money", "USD", 50.0),
        ("un million d'euros", "fr", "money", "EUR", 1e6),
        ("3 de degrés", "fr", "measure", "°", 3.0),
        ("2 milliards de dollars", "fr", "money", "USD", 2e9),
        ("3억 원", "ko", "money", "KRW", 3e8),
        ("5km", "en", "measure", "km", 5.0),
        ("five kilometers", "en", "measure", "km", 5.0),
        ("60 miles per hour", "en", "measure", "mph", 60.0),
        ("60 km/h", "en", "measure", "km/h", 60.0),
        ("120 mm Hg", "en", "measure", "mmHg", 120.0),
        ("6 1/2 months", "en", "measure", "mo", 6.5),
        ("5 km à l'heure", "fr", "measure", "km", 5.0),
        ("60 kilomètres par heure", "fr", "measure", "km/h", 60.0),
        ("98.6 °F", "en", "measure", "°F", 98.6),
        ("350 degrees F", "en", "measure", "°F", 350.0),
        ("350 degrees Celsius", "en", "measure", "°C", 350.0),
        ("90 degrees", "en", "measure", "°", 90.0),
        ("-5 °C", "en", "measure", "°C", -5.0),
        ("120 square miles", "en", "measure", "mi²", 120.0),
        ("6-in", "en", "measure", "in", 6.0),
        ("10-year", "en", "measure", "yr", 10.0),
        ("5킬로미터를", "ko", "measure", "km", 5.0),
        ("5㎞를", "ko", "measure", "km", 5.0),
        ("5km를", "ko", "measure", "km", 5.0),
        ("36.5℃", "ko", "measure", "°C", 36.5),
        ("12시간", "ko", "measure", "h", 12.0),
    ],
)
def test_units_make_the_kind(text: str, language: str, kind: str, symbol: str, value: float) -> None:
    quantity = one(text, language)
    assert quantity.unit is not None
    assert (quantity.kind, quantity.unit.symbol) == (kind, symbol)
    assert quantity.value == pytest.approx(value)


@pytest.mark.parametrize(
    "amount", ["mol", "mmol", "µmol", "μmol", "g", "mg", "mcg", "ng", "pg", "U", "mU", "IU", "mIU"]
)
@pytest.mark.parametrize("volume", ["L", "l", "dL", "dl", "mL", "ml"])
def test_every_concentration_that_is_found_has_a_unit(amount: str, volume: str) -> None:
    symbol = f"{amount}/{volume}".replace("μ", "µ").replace("mcg", "µg")[:-1] + "L"
    assert one(f"It was 5 {amount}/{volume} then.").unit == UNITS[symbol]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("COVID-19, B12, #4, GPT-4 and A/3", "en"),
        ("9/11, on 1/2, open 24/7, 1/2/2020", "en"),
        ("one of them", "en"),
        ("une personne", "fr"),
        ("한 명", "ko"),
        ("이천은 도시다", "ko"),
        ("만약 비가 오면", "ko"),
        ("nothing here", "en"),
    ],
)
def test_codes_dates_and_articles_are_no_numbers(text: str, language: str) -> None:
    assert find_quantities(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "language", "value", "kind"),
    [
        ("the 3rd", "en", 3.0, "ordinal"),
        ("the second", "en", 2.0, "ordinal"),
        ("la 2e place", "fr", 2.0, "ordinal"),
        ("troisième", "fr", 3.0, "ordinal"),
        ("5번째", "ko", 5.0, "ordinal"),
        ("둘째", "ko", 2.0, "ordinal"),
    ],
)
def test_ordinals_are_a_kind_of_their_own(text: str, language: str, value: float, kind: str) -> None:
    quantity = one(text, language)
    assert (quantity.value, quantity.kind) == (value, kind)


@pytest.mark.parametrize(
    ("text", "language", "low", "high"),
    [
        ("5-10 km", "en", 5.0, 10.0),
        ("5 to 10 million people", "en", 5e6, 10e6),
        ("between 5 and 10 percent", "en", 5.0, 10.0),
        ("$10 to $20", "en", 10.0, 20.0),
        ("10%–15%", "en", 10.0, 15.0),
        ("de 5 à 10 ans", "fr", 5.0, 10.0),
        ("entre 5 et 10 ans", "fr", 5.0, 10.0),
        ("5~10명", "ko", 5.0, 10.0),
        ("1 million to 2 million", "en", 1e6, 2e6),
    ],
)
def test_two_ends_are_one_range(text: str, language: str, low: float, high: float) -> None:
    quantity = one(text, language)
    assert (quantity.value, quantity.high) == (low, high)


@pytest.mark.parametrize(
    "text", ["10 to 5", "5 and 10", "5 km to 10 kg", "5 cats, and in the year 10 of the dynasty", "1-2-3 and 5"]
)
def test_not_every_pair_is_a_range(text: str) -> None:
    assert len(find_quantities(text, language="en")) >= 2


@pytest.mark.parametrize(
    ("text", "language", "bound"),
    [
        ("about 1,200 people", "en", "about"),
        ("~1,200 people", "en", "about"),
        ("1,200 or so", "en", "about"),
        ("more than 5 million", "en", "at_least"),
        ("5 million or more", "en", "at_least"),
        ("50+ people", "en", "at_least"),
        ("less than 5", "en", "at_most"),
        ("5 or fewer", "en", "at_most"),
        ("environ 5 ans", "fr", "about"),
        ("plus de 5 ans", "fr", "at_least"),
        ("약 100명", "ko", "about"),
        ("100여 명", "ko", "about"),
        ("100명 이상", "ko", "at_least"),
        ("100명 미만", "ko", "at_most"),
        ("5 people", "en", "exactly"),
    ],
)
def test_words_around_a_number_say_how_exact_it_is(text: str, language: str, bound: str) -> None:
    assert one(text, language).bound == bound


def test_a_number_knows_its_place_with_sign_and_unit() -> None:
    text = "It cost US$ 3.2 billion in all, or 약 4조 원."
    places = [text[each.start : each.end] for each in find_quantities(text, language="ko")]
    assert places == ["US$ 3.2", "4조 원"]
    first, *_ = find_quantities(text, language="en")
    assert text[first.start : first.end] == "US$ 3.2 billion"


@pytest.mark.parametrize(
    ("written", "values", "step"),
    [
        ("1,200", (1200.0, 1.2), 100.0),
        ("1.234", (1.234, 1234.0), 0.001),
        ("0.125", (0.125,), 0.001),
        ("3.14", (3.14,), 0.01),
        ("1 234", (1234.0,), 1.0),
        ("1,2,3", (123.0,), 1.0),
        ("0", (0.0,), 1.0),
        ("1 234,5", (1234.5,), 0.1),
    ],
)
def test_digits_have_readings_and_a_last_digit(written: str, values: tuple[float, ...], step: float) -> None:
    found, last = readings(written)
    assert found == pytest.approx(values)
    assert last == pytest.approx(step)


def test_words_that_are_no_number_give_none() -> None:
    assert number_at(terms_of("cats"), 0, language="en") is None
    assert number_at(terms_of("five six"), 0, language="en").values == (5.0,)  # type: ignore[union-attr]
    assert number_at(terms_of("two, hundred"), 0, language="en").values == (2.0,)  # type: ignore[union-attr]
    assert number_at(terms_of("five and a half"), 0, language="en").values == (5.0,)  # type: ignore[union-attr]


def test_a_word_beyond_two_spaces_is_no_unit() -> None:
    assert one("5  kilometers").unit is None


def test_the_language_is_guessed_when_it_is_not_given() -> None:
    assert find_quantities("Les cent premiers sont dans la ville")[0].value == 100.0
    assert find_quantities("He paid a cent for the four of them")[0].value == 4.0


@pytest.mark.parametrize(
    ("value", "symbol", "standard"),
    [(1, "km", 1000.0), (1, "mi", 1609.344), (212, "°F", 100.0), (2, "h", 7200.0), (500, "mg", 0.5)],
)
def test_units_convert_to_the_first_of_their_dimension(value: float, symbol: str, standard: float) -> None:
    assert UNITS[symbol].standard(value) == pytest.approx(standard)


def test_currencies_are_dimensions_of_their_own() -> None:
    assert is_currency(unit_named("USD"))
    assert not is_currency(unit_named("km"))
    assert unit_named("USD/100").standard(250) == pytest.approx(2.5)
    assert unit_named("USD").dimension != unit_named("EUR").dimension


@pytest.mark.parametrize(("text", "values"), [("1,234 km et 0,5 km", (1234.0, 1.234)), ("1,234 km", (1234.0,))])
def test_a_comma_before_three_digits_may_be_decimal_where_another_comma_is(
    text: str, values: tuple[float, ...]
) -> None:
    assert find_quantities(text, language="fr")[0].values == values
