"""The settings of the clinical judges: `required_slots_by_turn.yaml` and `safety_rules.yaml`.

Both ship with the package; users copy them, edit them and name their folder.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache
from importlib import resources
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.formats.yaml import Place, YamlFile, YamlNode, nearest, parse_yaml, read_bytes

from .actionability import known_elements
from .rules import SafetyRules, safety_rules

TURNS_FILE, RULES_FILE = "required_slots_by_turn.yaml", "safety_rules.yaml"

SLOTS = {
    "age": "age",
    "sex": "sex",
    "primary_condition": "primary_condition",
    "comorbidities": "comorbidities",
    "active_meds": "key_meds",
    "key_meds": "key_meds",
    "labs": "key_labs",
    "key_labs": "key_labs",
    "vitals": "key_vitals",
    "key_vitals": "key_vitals",
    "major_procedures": "major_procedures",
    "chief_symptom": "chief_symptom",
}
"""Names that a turn may ask for, and the fields of the patient's facts that they mean."""
SCORES = ("SFS", "CSP", "CUS", "CUS_improved", "MCS", "ASS", "faithfulness", "answer_relevance", "perplexity")
"""Scores of an answer that the aggregate may weigh."""
_OTHER_SCORES = {name.lower(): name for name in SCORES} | {
    "ragas_faithfulness": "faithfulness",
    "ragas_answer_relevance": "answer_relevance",
}
_OTHER_ELEMENTS = {"rules_3_to_5": "three_to_five_rules", "priorities_top3": "top_three_priorities"}
"""Names that the medical multi-turn evaluation has for them in its own files."""
_TOP = ("schema_version", "slot_definitions", "turns", "aggregate")


class Turn(Struct, frozen=True):
    """What one turn asks for."""

    name: str
    required_slots: tuple[tuple[str, float], ...]
    """Names as the file has them, with weights."""
    must_include: tuple[str, ...] = ()
    min_expected: float | None = None
    """The least context utilisation that is thought good; shown beside the score, never part of it."""
    place: Place = Place(1, 1)


class TurnRequirements(Struct, frozen=True, eq=False):
    """All that `required_slots_by_turn.yaml` says; equal to itself only, so that what follows from it can be kept."""

    turns: dict[str, Turn]
    """By the turn's number as text; `turn` takes either."""
    weights: dict[str, float]
    """Of the scores in the aggregate; empty when there is none."""
    file: str
    digest: str
    """The first digits of the SHA-256 of the file."""

    def turn(self, turn_id: int | str) -> Turn | None:
        """What a turn asks for; None when the file does not name it."""
        return self.turns.get(str(turn_id))


def turn_requirements(file: YamlFile, digest: str) -> TurnRequirements:
    """What a file says; its faults are added to it."""
    top = file.entries(file.root, known=_TOP, needed=("turns",))
    file.named(top.get("slot_definitions"))
    turns = {key: _turn(file, node) for key, node in file.named(top.get("turns")).items() if _is_turn(file, node)}
    return TurnRequirements(turns, _weights(file, top.get("aggregate")), file.name, digest)


def _is_turn(file: YamlFile, node: YamlNode) -> bool:
    if str(node.keys[-1]).isdecimal() and int(node.keys[-1]) > 0:
        return True
    file.refuse(node, "a turn is called by its number, from 1")
    return False


def _turn(file: YamlFile, node: YamlNode) -> Turn:
    known = ("name", "theme", "required_slots", "must_include_elements", "scoring")
    entries = file.entries(node, known=known, needed=("required_slots",))
    file.text(entries.get("theme"))
    scoring = file.entries(entries.get("scoring"), known=("cus_min_expected",))
    least = file.number(scoring.get("cus_min_expected"), "a number from 0 to 1", accepts=lambda value: 0 <= value <= 1)
    slots = tuple(slot for item in file.items(entries.get("required_slots")) if (slot := _slot(file, item)))
    _refuse_repeated(file, entries.get("required_slots"), [SLOTS.get(name, name) for name, _ in slots])
    elements = tuple(
        element for item in file.items(entries.get("must_include_elements")) if (element := _element(file, item))
    )
    _refuse_repeated(file, entries.get("must_include_elements"), list(elements))
    return Turn(file.text(entries.get("name")) or f"turn {node.keys[-1]}", slots, elements, least, node.place)


def _slot(file: YamlFile, node: YamlNode) -> tuple[str, float] | None:
    entries = file.entries(node, known=("slot", "weight"), needed=("slot", "weight"))
    name = _known(file, entries.get("slot"), tuple(SLOTS))
    weight = file.number(entries.get("weight"), "a number above 0", accepts=lambda value: value > 0)
    return None if name is None or weight is None else (name, weight)


def _element(file: YamlFile, node: YamlNode) -> str | None:
    if (name := _OTHER_ELEMENTS.get(str(node.value))) is not None:
        file.note(node, f"{node.value} is read as {name}")
        return name
    return _known(file, node, known_elements())


def _known(file: YamlFile, node: YamlNode | None, names: tuple[str, ...]) -> str | None:
    name = file.text(node)
    if node is not None and name is not None and name not in names:
        file.refuse(node, f"{name!r} is not known; {nearest(name, names)}")
        return None
    return name


def _refuse_repeated(file: YamlFile, node: YamlNode | None, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if node is not None and repeated:
        file.refuse(node, f"{', '.join(repeated)} stands twice; keep one")


def _weights(file: YamlFile, node: YamlNode | None) -> dict[str, float]:
    inside = file.entries(node, known=("weights",), needed=("weights",)).get("weights")
    given = file.entries(_with_usual_names(file, inside), known=SCORES)
    weights = {
        name: weight
        for name, entry in given.items()
        if (weight := file.number(entry, "a number from 0 to 1", accepts=lambda value: 0 <= value <= 1)) is not None
    }
    total = math.fsum(weights.values())
    if inside is not None and len(weights) == len(given) and not math.isclose(total, 1, abs_tol=1e-6):
        file.refuse(inside, f"the weights sum to {total:g}; expected 1")
    if inside is not None and {"CUS", "CUS_improved"} <= set(weights):
        file.refuse(inside, "CUS and CUS_improved measure the same; weigh one of them")
    return weights


def _with_usual_names(file: YamlFile, node: YamlNode | None) -> YamlNode | None:
    """Weights under the names of this package; one that is there under both is left as it is, and refused."""
    if node is None or not isinstance(node.value, dict):
        return node
    usual = {name: _OTHER_SCORES[name] for name in node.value if name in _OTHER_SCORES and name not in SCORES}
    usual = {name: other for name, other in usual.items() if other not in node.value}
    for name, other in usual.items():
        file.note(node.value[name], f"{name} is read as {other}")
    return structs.replace(
        node,
        value={usual.get(name, name): entry for name, entry in node.value.items()},
        key_places={usual.get(name, name): place for name, place in node.key_places.items()},
    )


class Settings(Struct, frozen=True):
    """Both files once read."""

    requirements: TurnRequirements
    rules: SafetyRules


def load_settings(folder: Path | None) -> Settings:
    """The settings of a folder; a file that is not there is taken from the package, and both without a folder.

    Raises:
        InputError: There is no such folder, or neither file is in it.
        SettingsError: A file has faults; all of them are named.
    """
    if folder is None:
        return Settings(load_turn_requirements(), load_safety_rules())
    turns, rules = settings_paths(folder)
    return Settings(load_turn_requirements(turns), load_safety_rules(rules))


def settings_paths(folder: Path) -> tuple[Path | None, Path | None]:
    """Where the files of a folder are; None for one that is not there.

    Raises:
        InputError: There is no such folder, or neither file is in it.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one with {TURNS_FILE} and {RULES_FILE}")
    turns, rules = (path if (path := folder / name).exists() else None for name in (TURNS_FILE, RULES_FILE))
    if turns is None and rules is None:
        raise InputError(
            f"{folder}: neither {TURNS_FILE} nor {RULES_FILE} is there; "
            f"`hallumeter dialogue config --init {folder}` puts them there"
        )
    return turns, rules


def load_turn_requirements(path: Path | None = None) -> TurnRequirements:
    """What each turn asks for, as the file says, or the one that ships.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It has faults; all of them are named.
    """
    if path is None:
        return _shipped_requirements()
    requirements, file = read_turn_requirements(read_bytes(path), path.name)
    file.raise_faults()
    return requirements


def load_safety_rules(path: Path | None = None) -> SafetyRules:
    """The safety rules, as the file says, or those that ship.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It has faults; all of them are named.
    """
    if path is None:
        return _shipped_rules()
    rules, file = read_safety_rules(read_bytes(path), path.name)
    file.raise_faults()
    return rules


def read_turn_requirements(content: bytes, name: str) -> tuple[TurnRequirements, YamlFile]:
    """What the bytes of a file say, and the file with all of its faults."""
    file = parse_yaml(content, name)
    return turn_requirements(file, _digest(content)), file


def read_safety_rules(content: bytes, name: str) -> tuple[SafetyRules, YamlFile]:
    """What the bytes of a file say, and the file with all of its faults."""
    file = parse_yaml(content, name)
    return safety_rules(file, _digest(content), _shipped_rules()), file


def shipped_content(name: str) -> bytes:
    """The bytes of a file that ships."""
    return resources.files("hallumeter.dialogue.judges").joinpath("config", name).read_bytes()


@cache
def _shipped_requirements() -> TurnRequirements:
    requirements, file = read_turn_requirements(shipped_content(TURNS_FILE), TURNS_FILE)
    file.raise_faults()
    return requirements


@cache
def _shipped_rules() -> SafetyRules:
    content = shipped_content(RULES_FILE)
    file = parse_yaml(content, RULES_FILE)
    rules = safety_rules(file, _digest(content), None)
    file.raise_faults()
    return rules


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
