"""Sentences with gold aspects, for the benchmarks of the aspects pipeline; nothing is run here.

MAMS-ATSA is in English, marked by people. M-ABSA in Korean was translated by machine and its marks were carried over,
so that figures on it tell more about translated sentences than about Korean reviews; it has no licence, and is only
measured on.
"""

from __future__ import annotations

import ast
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.resource_files import load_mapping_thresholds, load_override_profiles, shipped_patterns
from hallumeter.aspects.settings import OverrideThresholds, Sentence, StageSettings


def read_mams(path: Path) -> list[Sentence]:
    """The sentences of a file of MAMS-ATSA."""
    root = ElementTree.parse(path).getroot()
    return [_of_mams(number, element) for number, element in enumerate(() if root is None else root)]


def _of_mams(number: int, element: Element) -> Sentence:
    tuples = tuple(
        AspectTuple(
            term.attrib["term"],
            term.attrib["polarity"],
            span=TextSpan(int(term.attrib["from"]), int(term.attrib["to"])),
        )
        for term in element.iter("aspectTerm")
    )
    text = element.findtext("text") or ""
    return Sentence(text_id=f"mams-{number}", text=text, language="en", gold_tuples=tuples)


def read_mabsa(path: Path) -> tuple[list[Sentence], int]:
    """The Korean sentences of a file of M-ABSA, and how many lines cannot be read."""
    sentences, broken = [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        text, _, marks = line.partition("####")
        try:
            marked = ast.literal_eval(marks)
        except (SyntaxError, ValueError):
            broken += 1
            continue
        tuples = tuple(
            AspectTuple("" if term == "NULL" else term, polarity, span=_place(text, term))
            for term, _, polarity in marked
        )
        name = f"{path.stem}-{number}"
        sentences.append(Sentence(text_id=name, text=text, language="ko", gold_tuples=tuples))
    return sentences, broken


def shipped_settings() -> StageSettings:
    """The patterns and thresholds that a run has unless it is given others."""
    return StageSettings(
        override=load_override_profiles().named() or OverrideThresholds(),
        mapping=load_mapping_thresholds(),
        patterns=dict(shipped_patterns()),
    )


def _place(text: str, term: str) -> TextSpan | None:
    start = text.find(term)
    return None if start < 0 else TextSpan(start, start + len(term))
