"""The file of weights that ships with the reader, read once."""

from __future__ import annotations

import hashlib
import io
from importlib import resources
from threading import Lock

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError

FILE = "model/reader.npz"
_LOCK = Lock()
_loaded: dict[str, Weights] = {}

Numbers = NDArray[np.float32]


class Weights(Struct, frozen=True):
    """Arrays by name, and what they were made from."""

    arrays: dict[str, NDArray[np.generic]]
    digest: str
    """The first letters of the SHA-256 of the file."""

    def numbers(self, name: str) -> Numbers:
        """An array to calculate with."""
        return self.arrays[name].astype(np.float32)

    def words(self, name: str) -> list[str]:
        """A list of words, which is stored as one text."""
        return self.arrays[name].tobytes().decode("utf-8").split("\n")


def shipped_weights() -> Weights:
    """The weights of the package.

    Raises:
        SettingsError: The file is missing or damaged.
    """
    with _LOCK:
        if FILE not in _loaded:
            _loaded[FILE] = _read()
        return _loaded[FILE]


def weights_from(content: bytes) -> Weights:
    """Weights from the bytes of a file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Weights({key: arrays[key] for key in arrays.files}, hashlib.sha256(content).hexdigest()[:8])


def _read() -> Weights:
    try:
        return weights_from(resources.files(__package__).joinpath(FILE).read_bytes())
    except (OSError, ValueError, EOFError) as error:
        raise SettingsError(
            f"the weights of the English reader ({FILE}) cannot be read; install hallumeter again ({error})"
        ) from error
