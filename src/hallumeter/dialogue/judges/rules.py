"""`safety_rules.yaml`: flags of patients and questions, patterns of answers, rules and requirements."""

from __future__ import annotations

import operator
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import astuple, replace

from hallumeter.dialogue.reading.reader import measurement_named
from hallumeter.dialogue.reading.units import converted
from hallumeter.formats.yaml import Place, YamlFile, YamlNode, nearest

from .phrases import Phrase, PhraseMatcher, RegexError, compiled

Comparison = Literal[">=", ">", "<=", "<"]
COMPARED = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
CueKind = Literal["patient_flag", "question_flag", "condition_contains"]

CONTEXTS = (
    *("warnings", "cautions", "limits_before", "limits_after", "outdone_before", "outdone_after", "referrals"),
    *("echoes", "suggestions", "affirmations", "avoid_headings"),
)
"""Cues around a pattern that tell whether an answer recommends it."""

_TOP = (
    *("schema_version", "patient_flags", "question_flags", "answer_patterns", "rules", "missing_requirements"),
    *("context_cues", "description"),
)
_PATTERNS = ("patterns_ko", "patterns_en")
_EXCEPTIONS = ("except_ko", "except_en")
_MEASURED = ("lab", "vital", "field")
"""`field` is what the medical multi-turn evaluation writes for either."""
_RULE = ("id", "name", "penalty", "rationale")


class Threshold(Struct, frozen=True):
    """A bound of a laboratory value or a vital sign."""

    measurement: str
    """Its name in the lexicon of measurements."""
    comparison: Comparison
    value: float
    """In the lexicon's unit."""
    unit: str
    place: Place

    @property
    def words(self) -> str:
        """As in ``egfr < 60 mL/min/1.73m2``."""
        return f"{self.measurement} {self.comparison} {self.value:g} {self.unit}"


class PatientFlag(Struct, frozen=True):
    """Something that a patient's values show."""

    name: str
    thresholds: tuple[Threshold, ...]
    needs_all: bool
    """Whether all bounds must hold, or any of them."""
    place: Place
    report_only: bool = False
    """Whether it is meant to be shown and needed by no rule."""


class Cue(Struct, frozen=True):
    """What calls for a rule, or must be absent."""

    kind: CueKind
    names: tuple[str, ...]
    """A flag, or the words that the name of a condition may contain."""
    expected: bool
    place: Place
    but_not: tuple[str, ...] = ()
    """Conditions that contain the words and are something else."""


class Penalised(Struct, frozen=True):
    """What a rule and a requirement have in common."""

    rule_id: str
    name: str
    weight: float
    """The penalty without its sign."""
    rationale: str | None
    place: Place
    turns: tuple[str, ...]
    """The only turns that it applies to; of a rule, empty is all."""


class SafetyRule(Penalised, frozen=True, kw_only=True):
    """An answer to such a patient or question must not recommend what these patterns say."""

    cues: tuple[Cue, ...]
    needs_all: bool
    patterns: tuple[str, ...]
    """Groups of answer patterns, any of which violates it."""


class Requirement(Penalised, frozen=True, kw_only=True):
    """An answer to these turns must name one of these concepts."""

    group: str
    """The group of phrases that meet it."""


class PhrasePlace(Struct, frozen=True):
    """A phrase of the file and where it stands."""

    phrase: Phrase
    section: str
    place: Place
    is_exception: bool = False
    is_shipped: bool = False
    """Whether it is the package's, because the user's file has none."""


class SafetyRules(Struct, frozen=True, eq=False):
    """All that `safety_rules.yaml` says; equal to itself only, so that what follows from it can be kept."""

    patient_flags: dict[str, PatientFlag]
    question_flags: dict[str, Place]
    answer_patterns: dict[str, Place]
    rules: tuple[SafetyRule, ...]
    requirements: tuple[Requirement, ...]
    phrases: tuple[PhrasePlace, ...]
    questions: PhraseMatcher
    """Finds the cues of question flags."""
    answers: PhraseMatcher
    """Finds the patterns of answers, the concepts of requirements and the cues around them."""
    conditions: dict[str, PhraseMatcher]
    """For each `condition_contains`, by its words: finds them in the name of a condition."""
    file: str
    digest: str
    """The first digits of the SHA-256 of the file: two runs with the same digest had the same rules."""

    @property
    def own_phrases(self) -> tuple[PhrasePlace, ...]:
        """The phrases that stand in the file itself."""
        return tuple(each for each in self.phrases if not each.is_shipped)


def condition_key(cue: Cue) -> str:
    """Under what a cue's words are kept in `SafetyRules.conditions`."""
    return "|".join(cue.names) + "/" + "|".join(cue.but_not)


def requirement_group(rule_id: str) -> str:
    """The group of the phrases that meet a requirement; no pattern of the user's can be called so."""
    return f"requirement/{rule_id}"


def context_group(name: str) -> str:
    """The group of the cues of a context."""
    return f"context/{name}"


def safety_rules(file: YamlFile, digest: str, shipped: SafetyRules | None) -> SafetyRules:
    """What a file says; its faults are added to it. Without `context_cues` those of the `shipped` rules hold."""
    reading = _Reading(file)
    top = file.entries(file.root, known=_TOP, needed=("patient_flags", "answer_patterns", "rules"))
    patient_flags = {key: reading.patient_flag(node) for key, node in file.named(top.get("patient_flags")).items()}
    questions = {key: reading.patterns(node, key) for key, node in file.named(top.get("question_flags")).items()}
    answers = {key: reading.patterns(node, key) for key, node in file.named(top.get("answer_patterns")).items()}
    reading.names = {"patient_flag": set(patient_flags), "question_flag": set(questions), "pattern": set(answers)}
    rules = tuple(map(reading.rule, file.items(top.get("rules"))))
    requirements = tuple(map(reading.requirement, file.items(top.get("missing_requirements"))))
    contexts = file.entries(top.get("context_cues"), known=CONTEXTS)
    for key, node in contexts.items():
        reading.patterns(node, context_group(key))
    if shipped is not None:
        missing = set(CONTEXTS) - set(contexts)
        reading.phrases += [replace(each, is_shipped=True) for each in shipped.phrases if _context(each) in missing]
    return SafetyRules(
        patient_flags=patient_flags,
        question_flags=questions,
        answer_patterns=answers,
        rules=rules,
        requirements=requirements,
        phrases=tuple(reading.phrases),
        questions=_matcher(reading.phrases, "question_flags"),
        answers=_matcher(reading.phrases, "answer_patterns", "missing_requirements", "context_cues"),
        conditions={
            condition_key(cue): _of_conditions(cue) for cue in reading.cues if cue.kind == "condition_contains"
        },
        file=file.name,
        digest=digest,
    )


def _context(each: PhrasePlace) -> str | None:
    return each.phrase.group.partition("/")[2] if each.section == "context_cues" else None


def _matcher(phrases: list[PhrasePlace], *sections: str) -> PhraseMatcher:
    there = [each for each in phrases if each.section in sections]
    return PhraseMatcher(
        [each.phrase for each in there if not each.is_exception], [each.phrase for each in there if each.is_exception]
    )


def _of_conditions(cue: Cue) -> PhraseMatcher:
    return PhraseMatcher([Phrase("", name) for name in cue.names], [Phrase("", name) for name in cue.but_not])


class _Reading:
    """Goes through a file; keeps the phrases, the cues and the names that it has met."""

    def __init__(self, file: YamlFile) -> None:
        self._file = file
        self._ids: dict[str, Place] = {}
        self.phrases: list[PhrasePlace] = []
        self.cues: list[Cue] = []
        self.names: dict[str, set[str]] = {}

    def patterns(self, node: YamlNode, group: str) -> Place:
        """The phrases of a flag, a pattern, a requirement or a context."""
        file = self._file
        entries = file.entries(node, known=("description", *_PATTERNS, *_EXCEPTIONS))
        if not any(file.items(entries.get(key)) for key in _PATTERNS) and isinstance(node.value, dict):
            file.refuse(node, "has no phrases; give patterns_ko or patterns_en")
        for key in (*_PATTERNS, *_EXCEPTIONS):
            for item in file.items(entries.get(key)):
                if (source := self._source(item)) is not None:
                    phrase = Phrase(group, source)
                    section = str(node.keys[0])
                    self.phrases.append(PhrasePlace(phrase, section, item.place, is_exception=key in _EXCEPTIONS))
        return node.place

    def _source(self, item: YamlNode) -> str | None:
        source = self._file.text(item)
        try:
            if source is not None:
                compiled(source)
        except RegexError as error:
            self._file.refuse(item, str(error))
            return None
        return source

    def patient_flag(self, node: YamlNode) -> PatientFlag:
        entries = self._file.entries(node, known=("description", "report_only", "any", "all"))
        bounds, needs_all = self._either(node, entries)
        thresholds = [self._threshold(item) for item in bounds]
        known = tuple(threshold for threshold in thresholds if threshold is not None)
        is_shown = self._file.choice(entries.get("report_only"), (True, False)) is True
        return PatientFlag(str(node.keys[-1]), known, needs_all, node.place, is_shown)

    def _either(self, node: YamlNode | None, entries: dict[str, YamlNode]) -> tuple[tuple[YamlNode, ...], bool]:
        """The entries of `any` or of `all`, and which it is."""
        file = self._file
        given = [key for key in ("any", "all") if key in entries]
        if node is not None and isinstance(node.value, dict) and len(given) != 1:
            file.refuse(node, "expected a list under either any or all")
            return (), False
        items = file.items(entries[given[0]]) if given else ()
        if given and not items and isinstance(entries[given[0]].value, tuple):
            file.refuse(entries[given[0]], "expected at least one entry")
        return items, given == ["all"]

    def _threshold(self, node: YamlNode) -> Threshold | None:
        file = self._file
        entries = file.entries(node, known=(*_MEASURED, "op", "value", "unit"), needed=("op", "value"))
        kinds = [key for key in _MEASURED if key in entries]
        comparison = file.choice(entries.get("op"), tuple(COMPARED))
        value = file.number(entries.get("value"))
        if entries and len(kinds) != 1:
            file.refuse(node, "expected one of lab, vital and field, with the name of a measurement")
        name = file.text(entries[kinds[0]]) if len(kinds) == 1 else None
        unit = file.text(entries.get("unit"))
        measurement = None if name is None else measurement_named(name)
        if name is not None and (measurement is None or kinds[0] not in (measurement.kind, "field")):
            kind = "lab or vital" if kinds[0] == "field" else kinds[0]
            file.refuse(entries[kinds[0]], f"{name!r} is no {kind} of the lexicon; write it as in the patient's facts")
            return None
        if kinds == ["field"]:
            file.note(entries["field"], "field is read as lab or vital, whichever the name is of")
        if measurement is None or comparison is None or value is None:
            return None
        in_unit = converted(value, unit, measurement)
        if in_unit is None:
            file.refuse(entries["unit"], f"{unit!r} is no unit of {measurement.name}; expected {measurement.unit}")
            return None
        return Threshold(measurement.name, cast("Comparison", comparison), in_unit, measurement.unit, node.place)

    def _penalised(self, node: YamlNode, entries: dict[str, YamlNode]) -> Penalised:
        file = self._file
        rule_id = file.text(entries.get("id")) or ""
        if rule_id in self._ids:
            file.refuse(entries["id"], f"{rule_id!r} is the id of another rule, in line {self._ids[rule_id].line}")
        elif rule_id:
            self._ids[rule_id] = entries["id"].place
        penalty = file.number(entries.get("penalty"), "a number below 0", accepts=lambda value: value < 0)
        name, rationale = file.text(entries.get("name")), file.text(entries.get("rationale"))
        turns = self._turns(entries.get("apply_to_turns"))
        return Penalised(rule_id, name or rule_id, abs(penalty or 0), rationale, node.place, turns)

    def rule(self, node: YamlNode) -> SafetyRule:
        file = self._file
        one, several = "violation_if_answer_matches", "violation_if_answer_matches_any"
        entries = file.entries(
            node, known=(*_RULE, "when", one, several, "apply_to_turns"), needed=("id", "penalty", "when")
        )
        if entries and (one in entries) == (several in entries):
            file.refuse(node, f"expected either {one} or {several}")
        listed = file.items(entries.get(several))
        patterns = [self._known("pattern", item) for item in ([entries[one]] if one in entries else listed)]
        if several in entries and not listed:
            file.refuse(entries[several], "expected at least one pattern")
        when = entries.get("when")
        items, needs_all = self._either(when, file.entries(when, known=("any", "all")))
        cues = [cue for item in items if (cue := self._cue(item)) is not None]
        self.cues += cues
        shared = self._penalised(node, entries)
        return SafetyRule(
            *astuple(shared),
            cues=tuple(cues),
            needs_all=needs_all,
            patterns=tuple(name for name in patterns if name is not None),
        )

    def requirement(self, node: YamlNode) -> Requirement:
        known = (*_RULE, "apply_to_turns", "required_concepts_any_of")
        needed = ("id", "penalty", "apply_to_turns", "required_concepts_any_of")
        entries = self._file.entries(node, known=known, needed=needed)
        shared = self._penalised(node, entries)
        group = requirement_group(shared.rule_id)
        if "required_concepts_any_of" in entries:
            self.patterns(entries["required_concepts_any_of"], group)
        return Requirement(*astuple(shared), group=group)

    def _turns(self, node: YamlNode | None) -> tuple[str, ...]:
        """Turns as text: `3` and `"3"` mean the same."""
        turns = []
        for item in self._file.items(node):
            if str(item.value).isdecimal() and int(str(item.value)) > 0:
                turns.append(str(item.value))
            else:
                self._file.refuse(item, f"expected the number of a turn, found {item.value!r}")
        if node is not None and node.value == ():
            self._file.refuse(node, "expected at least one turn")
        return tuple(turns)

    def _cue(self, node: YamlNode) -> Cue | None:
        file = self._file
        kinds: tuple[CueKind, ...] = ("patient_flag", "question_flag", "condition_contains")
        entries = file.entries(node, known=(*kinds, "is", "but_not"))
        given = [kind for kind in kinds if kind in entries]
        if len(given) != 1:
            if isinstance(node.value, dict):
                file.refuse(node, f"expected one of {', '.join(kinds)}")
            return None
        expected = file.choice(entries["is"], (True, False)) if "is" in entries else True
        [kind] = given
        if "but_not" in entries and kind != "condition_contains":
            file.refuse(entries["but_not"], "but_not goes with condition_contains only")
        if kind == "condition_contains":
            names = self._words(entries[kind])
        else:
            name = self._known(kind, entries[kind])
            names = () if name is None else (name,)
        but_not = self._words(entries["but_not"]) if "but_not" in entries else ()
        return Cue(kind, names, expected is not False, node.place, but_not) if names else None

    def _words(self, node: YamlNode) -> tuple[str, ...]:
        """One phrase or a list of them."""
        items = (node,) if isinstance(node.value, str) else self._file.items(node)
        return tuple(source for item in items if (source := self._source(item)) is not None)

    def _known(self, kind: str, node: YamlNode) -> str | None:
        name = self._file.text(node)
        if name is None or name in self.names[kind]:
            return name
        what = {"pattern": "answer_patterns"}.get(kind, f"{kind}s")
        self._file.refuse(node, f"{name!r} is not defined in {what}; {nearest(name, sorted(self.names[kind]))}")
        return None
