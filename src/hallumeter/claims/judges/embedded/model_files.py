"""The files of the model that ship with the package, checked before they are used."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError

FOLDER = Path(__file__).parent / "model"
LIST = "model.json"
_FAST = ("tokenizer.json", "words.npz", "trees.npz")
FILES = {"fast": _FAST, "full": (*_FAST, "encoder.onnx")}
"""What each tier needs."""


class Tier(Struct, frozen=True):
    """How one tier decides."""

    constant: float
    weights: dict[str, float]
    """Of each signal, in the logit of the probability that a claim is unsupported."""
    threshold: float
    """Probability from which a claim is called unsupported."""
    stretch: float = 0.5
    """Probability from which a token speaks for being a part of what is unsupported."""


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
        raise _damaged(LIST) from error


def model_bytes(name: str) -> bytes:
    """A file of the model.

    Raises:
        SettingsError: It is not there, or not as it was shipped.
    """
    content = _bytes(name)
    if hashlib.sha256(content).hexdigest() != shipped_model().files.get(name):
        raise _damaged(name)
    return content


def checked_tier(name: str) -> Tier:
    """How a tier decides, after all its files were looked at.

    Raises:
        SettingsError: A file is missing or damaged.
    """
    model = shipped_model()
    if name not in model.tiers:
        raise _damaged(LIST)
    for file in FILES[name]:
        model_bytes(file)
    return model.tiers[name]


def load_arrays(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file of the model."""
    with np.load(io.BytesIO(model_bytes(name)), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def _damaged(name: str) -> SettingsError:
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
