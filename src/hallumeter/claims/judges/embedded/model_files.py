"""The files of the model that ship with the package, checked before they are used."""

from __future__ import annotations

import hashlib
import io
import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from hallumeter.claims.judges.rules.statement import DOUBTS, REASONS
from hallumeter.claims.settings import PRESETS
from hallumeter.errors import SettingsError

FOLDER = Path(__file__).parent / "model"
LIST = "model.json"
_FAST = ("tokenizer.json", "words.npz", "trees.npz")
FILES = {"fast": _FAST, "full": (*_FAST, "encoder.onnx")}
"""What each tier needs."""


# How a tier decides: one probability for each claim, and thresholds on it.

TEXT_SIGNALS = ("is_structured", "is_dialogue", "has_question", "is_single", "is_short_evidence")
"""What is known of the response and its evidence; the same number for each of its claims."""
_BY_RULES = ("contradiction", "mismatch", "confirmed")
_BY_TREES = ("trees", "trees_beside", *_BY_RULES)
CLAIM_SIGNALS = {"fast": _BY_TREES, "full": (*_BY_TREES, "vote", "vote_beside")}
"""What trees and network say of a claim and of the claims beside it, and whether a check refutes or confirms it."""
FINDING = "finding:"
"""Before the reason of a finding: the signal is 1 in a claim in which the rules found it, else 0."""
FINDING_REASONS = (*REASONS, *DOUBTS)
DEFAULT = "default"
KINDS = ("record", "dialogue", "qa", "single", "summary")
"""Kinds of texts; calibration and thresholds may differ between them."""


class Curve(Struct, frozen=True, forbid_unknown_fields=True):
    """A monotone map of logits: linear between its points, and with a slope of one beyond them.

    Without a point it changes nothing.
    """

    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    @property
    def is_monotone(self) -> bool:
        """Whether it has as many values as places, places that rise, and values that never fall."""
        rises = all(first < second for first, second in pairwise(self.x))
        falls = any(first > second for first, second in pairwise(self.y))
        return len(self.x) == len(self.y) and rises and not falls and all(map(math.isfinite, (*self.x, *self.y)))

    def __call__(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """The calibrated logits."""
        if not self.x:
            return logits
        nearest = np.clip(logits, self.x[0], self.x[-1])
        return np.asarray(np.interp(nearest, self.x, self.y) + (logits - nearest))


Thresholds = float | dict[str, float]
"""One for all kinds of texts, or one by kind with a ``default``."""


class Tier(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one tier decides: a weighted sum of signals, calibrated by the kind of text, against a threshold."""

    constant: float
    weights: dict[str, float]
    """Of each signal, in the logit of the probability that a claim is unsupported."""
    presets: dict[str, Thresholds]
    """Probability from which a claim is called unsupported, by the names of `PRESETS`."""
    calibration: str
    """Names the fit; it differs whenever a probability or a threshold could."""
    curves: dict[str, Curve] = field(default_factory=dict)
    """By kind of text; `DEFAULT` for kinds that have none."""
    alternatives: dict[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """By kind of text: (shift, slope) of the calibrated logit in refits on resampled claims, for intervals."""
    stretch: float = 0.5
    """Probability from which a token speaks for being a part of what is unsupported."""

    def curve(self, kind: str) -> Curve:
        """The calibration of a kind of text."""
        return self.curves.get(kind) or self.curves.get(DEFAULT) or Curve()

    def threshold(self, preset: str, kind: str) -> float:
        """The threshold of a preset for a kind of text."""
        given = self.presets[preset]
        return given.get(kind, given[DEFAULT]) if isinstance(given, dict) else given


def is_sound(tier: Tier, name: str) -> bool:
    """Whether a tier can decide: it weighs only what there is, its maps rise, its thresholds are probabilities."""
    known = {*TEXT_SIGNALS, *CLAIM_SIGNALS[name], *(f"{FINDING}{reason}" for reason in FINDING_REASONS)}
    numbers = [tier.constant, *tier.weights.values(), *(number for pair in _pairs(tier) for number in pair)]
    return (
        set(tier.weights) <= known
        and all(map(math.isfinite, numbers))
        and {*tier.curves, *tier.alternatives} <= {DEFAULT, *KINDS}
        and all(curve.is_monotone for curve in tier.curves.values())
        and all(slope > 0.0 for _, slope in _pairs(tier))
        and set(tier.presets) == set(PRESETS)
        and all(map(_are_thresholds, tier.presets.values()))
        and 0.0 <= tier.stretch <= 1.0
        and bool(tier.calibration)
    )


def _pairs(tier: Tier) -> list[tuple[float, float]]:
    return [pair for pairs in tier.alternatives.values() for pair in pairs]


def _are_thresholds(given: Thresholds) -> bool:
    by_kind = given if isinstance(given, dict) else {DEFAULT: given}
    has_names = DEFAULT in by_kind and set(by_kind) <= {DEFAULT, *KINDS}
    return has_names and all(0.0 <= threshold <= 1.0 for threshold in by_kind.values())


class Model(Struct, frozen=True):
    """What ships: its version, its files with their digests, and how its tiers decide."""

    version: int
    files: dict[str, str]
    """SHA-256 of each file."""
    tiers: dict[str, Tier]


@cache
def shipped_model() -> Model:
    """The list of the model's files, and how its tiers decide.

    Raises:
        SettingsError: It is not there or cannot be read.
    """
    try:
        return msgspec.json.decode(_bytes(LIST), type=Model)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise damaged(LIST) from error


def model_bytes(name: str) -> bytes:
    """A file of the model.

    Raises:
        SettingsError: It is not there, or not as it was shipped.
    """
    content = _bytes(name)
    if hashlib.sha256(content).hexdigest() != shipped_model().files.get(name):
        raise damaged(name)
    return content


def checked_tier(name: str) -> Tier:
    """How a tier decides, after all its files were looked at.

    Raises:
        SettingsError: A file is missing or damaged, or the list says what no tier can decide by.
    """
    model = shipped_model()
    if name not in model.tiers or not is_sound(model.tiers[name], name):
        raise damaged(LIST)
    for file in FILES[name]:
        model_bytes(file)
    return model.tiers[name]


def load_arrays(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file of the model."""
    with np.load(io.BytesIO(model_bytes(name)), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def damaged(name: str) -> SettingsError:
    """The error to raise for a file that is not as it was shipped."""
    return SettingsError(
        f"the file {name} of the embedded judge is damaged; install hallumeter again, or use --judge rules"
    )


def _bytes(name: str) -> bytes:
    try:
        return (FOLDER / name).read_bytes()
    except OSError as error:
        raise SettingsError(
            f"the file {name} of the embedded judge cannot be read ({error.strerror}); "
            "install hallumeter again, or use --judge rules"
        ) from error


# Decision trees as plain arrays.


class Trees(Struct, frozen=True):
    """A sum of trees. Every tree's nodes stand together; a leaf is its own child."""

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    """The child when the feature is at most the threshold."""
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    depth: int

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What the trees say together of each row of features."""
        rows = np.arange(len(features))[:, None]
        nodes = np.broadcast_to(self.roots, (len(features), len(self.roots)))
        for _ in range(self.depth):
            goes_left = features[rows, self.feature[nodes]] <= self.threshold[nodes]
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
        return np.asarray(self.value[nodes].sum(axis=1))


@cache
def trees() -> Trees:
    """The trees of the model."""
    arrays = load_arrays("trees.npz")
    return Trees(
        **{name: arrays[name] for name in Trees.__struct_fields__ if name != "depth"}, depth=int(arrays["depth"])
    )
