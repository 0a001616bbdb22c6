"""The vectors that words start from: the input table of MiniLM, turned to its widest directions and made small."""

from __future__ import annotations

import re

import msgspec
import numpy as np
from numpy.typing import NDArray

from hallumeter.claims.judges.embedded.model_files import load_arrays, model_bytes

SIZE = 64
_FURTHEST = 4.0
"""In standard deviations; what lies further out is drawn in."""
_KEPT = re.compile(r"(##)?[a-z]+|##'?[a-z0-9]+|[a-z]+'[a-z]+|10|[!-/:-@\[-`{-~]")


def piece_vectors(size: int = SIZE) -> tuple[list[str], NDArray[np.int8], np.float32]:
    """Names of words and pieces of words, their vectors as whole numbers, and the scale of these."""
    vocabulary = msgspec.json.decode(model_bytes("tokenizer.json"))["model"]["vocab"]
    names = [name for name in vocabulary if _KEPT.fullmatch(name)]
    arrays = load_arrays("words.npz")
    table = arrays["numbers"].astype(np.float32) * arrays["scales"][:, None]
    chosen = table[[vocabulary[name] for name in names]]
    chosen -= chosen.mean(axis=0)
    _, _, directions = np.linalg.svd(chosen.T @ chosen)
    turned = chosen @ (directions[:size] * np.sign(directions[:size].sum(axis=1, keepdims=True))).T
    scale = np.float32(turned.std() * _FURTHEST / 127)
    numbers = np.clip(np.rint(turned / scale), -127, 127).astype(np.int8)
    return names, numbers, np.float32(_FURTHEST / 127)
