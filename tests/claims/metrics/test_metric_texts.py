"""The words of metrics: every metric has its own in English, and other languages say nothing else."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest
from msgspec import structs

import hallumeter
from hallumeter.records.metric import Metric
from hallumeter.text.metric_texts import with_texts

PACKAGE = Path(hallumeter.__file__).parent
INSTRUMENTS = [path.parent.name for path in sorted(PACKAGE.glob("*/metrics.en.toml"))]
TRANSLATED = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.glob("*/metrics.??.toml"))]
FIELDS = {field.name for field in structs.fields(Metric) if field.default == ""}

every_instrument = pytest.mark.parametrize("instrument", INSTRUMENTS)
every_file = pytest.mark.parametrize("name", TRANSLATED)


def texts(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((PACKAGE / name).read_text(encoding="utf-8"))


def catalog_ids(instrument: str) -> list[str]:
    return [metric.id for metric in importlib.import_module(f"hallumeter.{instrument}.catalog").METRICS]


def test_the_catalog_of_the_package_is_that_of_its_instruments() -> None:
    assert sorted(metric.id for metric in hallumeter.METRICS) == sorted(
        name for instrument in INSTRUMENTS for name in catalog_ids(instrument)
    )


@every_instrument
def test_every_metric_has_its_texts_in_english_and_no_text_is_of_no_metric(instrument: str) -> None:
    own = texts(f"{instrument}/metrics.en.toml")
    assert list(own) == catalog_ids(instrument)
    lacking = {name: FIELDS - {"alias"} - set(words) for name, words in own.items()}
    assert not {name: fields for name, fields in lacking.items() if fields}


@every_instrument
def test_metrics_are_named_by_their_id_where_they_have_no_alias(instrument: str) -> None:
    own = texts(f"{instrument}/metrics.en.toml")
    for metric in importlib.import_module(f"hallumeter.{instrument}.catalog").METRICS:
        assert metric.alias == own[metric.id].get("alias", metric.id)
        assert all(getattr(metric, field) == text for field, text in own[metric.id].items())


@every_file
def test_every_text_is_of_a_metric_and_a_field_that_english_has(name: str) -> None:
    english = texts(f"{Path(name).parent}/metrics.en.toml")
    for metric, words in texts(name).items():
        assert words.keys() <= english.get(metric, {}).keys(), f"{name}: {metric}"
        assert words.keys() <= FIELDS
        assert all(text.strip() == text != "" for text in words.values()), f"{name}: {metric}"


@pytest.mark.parametrize("language", ["fr", "ko"])
def test_a_text_has_one_translation_since_reports_look_it_up_by_its_english(language: str) -> None:
    found: dict[str, set[str]] = {}
    for instrument in INSTRUMENTS:
        english = texts(f"{instrument}/metrics.en.toml")
        for metric, words in texts(f"{instrument}/metrics.{language}.toml").items():
            for field, text in words.items():
                found.setdefault(english[metric][field], set()).add(text)
    assert not {text: told for text, told in found.items() if len(told) > 1}


def test_a_metric_without_words_is_named() -> None:
    row = Metric(id="wordless", reads="labels", compute=len, direction="lower", range=(0, 1))
    with pytest.raises(KeyError, match="wordless"):
        with_texts("hallumeter.claims", row)
