"""A reader with the dictionaries of other packages beside the lexicon."""

from __future__ import annotations

import sys

import pytest

from hallumeter.dialogue.measure.entities import entity_reader
from hallumeter.dialogue.measure.settings import DialogueSettings
from hallumeter.dialogue.measure.setup import setup_for
from hallumeter.errors import MissingExtraError


def found(text: str) -> dict[str, str]:
    return {mention.name: mention.occurrences[0].scope for mention in entity_reader().read(text).mentions}


def test_names_that_the_lexicon_lacks_are_found_with_their_scopes() -> None:
    read = found("You are taking tebentafusp and metformin. You do not have kartagener syndrome.")
    assert read == {"metformin": "asserted", "tebentafusp": "asserted", "kartagener syndrome": "negated"}


def test_symptoms_are_no_conditions() -> None:
    assert found("You have nausea, vomiting and a fever.") == {}


def test_a_measurement_names_its_reader() -> None:
    dialogue_setup = setup_for(DialogueSettings(reader="entities"))
    assert dict(dialogue_setup.signature)["reader"].startswith("entities-")


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "drug_named_entity_recognition", None)
    with pytest.raises(MissingExtraError, match=r"hallumeter\[entities\]"):
        entity_reader()
