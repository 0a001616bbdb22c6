"""Drugs and diseases by the dictionaries of two packages, beside the lexicon: DrugBank's, MeSH's and others' names.

More is found than by the lexicon alone, and more that is none; see docs/explanation/reading-clinical-answers.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hallumeter.dialogue.records import MentionKind
from hallumeter.errors import MissingExtraError

from .setup import Entity, EntityReader

NAME = "entities"
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
_SYMPTOMS = "C23"
"""The branch of MeSH of signs, symptoms and what is none of them; a name that is in no other is no condition."""
_CONDITIONS = ("C", "F03")
"""The branches of diseases and of mental disorders."""
Find = Callable[[list[str]], Iterable[tuple[dict[str, Any], int, int]]]


def entity_reader() -> EntityReader:
    """A reader that adds what the dictionaries know.

    Raises:
        MissingExtraError: The packages are not installed.
    """
    try:
        from drug_named_entity_recognition import find_drugs
        from medical_named_entity_recognition import find_diseases
    except ImportError as error:
        raise MissingExtraError("entities", "a reader of named entities") from error

    def find(text: str) -> Iterator[Entity]:
        yield from _places(text, "medication", find_drugs)
        yield from _places(text, "condition", find_diseases)

    return EntityReader(find, name=NAME)


def _places(text: str, kind: MentionKind, find: Find) -> Iterator[Entity]:
    """Where the names stand; both packages count words, one of them from 1 on."""
    words = list(_WORD.finditer(text))
    spelled = [word.group() for word in words]
    for entry, first, _ in find(spelled):
        if kind == "condition" and not _is_condition(entry.get("mesh_tree") or ()):
            continue
        name = entry["matching_string"].casefold()
        count = len(name.split())
        for start in (first, first - 1):
            if start >= 0 and " ".join(spelled[start : start + count]).casefold() == name:
                yield kind, words[start].start(), words[start + count - 1].end()
                break


def _is_condition(branches: Iterable[str]) -> bool:
    """Whether a term of MeSH is a disease or disorder, and more than a symptom.

    >>> _is_condition(["C14.280.067.198", "C23.550.073.198"]), _is_condition(["C23.888.852.430"])
    (True, False)
    """
    return any(branch.startswith(_CONDITIONS) and not branch.startswith(_SYMPTOMS) for branch in branches)
