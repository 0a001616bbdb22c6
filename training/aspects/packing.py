"""The file of weights, written so that the same weights always give the same bytes."""

from __future__ import annotations

import io
import zipfile

import numpy as np
from numpy.typing import NDArray

from .descent import Weights

_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def packed(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """An .npz file in memory."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, content.getvalue(), compresslevel=9)
    return target.getvalue()


def word_list(words: list[str]) -> NDArray[np.uint8]:
    """Words as one array of bytes."""
    return np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)


def network_arrays(name: str, weights: Weights) -> dict[str, NDArray[np.generic]]:
    """The arrays of a network: half precision, and what was learned for words in eight bits."""
    arrays: dict[str, NDArray[np.generic]] = {
        f"{name}_{key}": value.astype(np.float16) for key, value in weights.items() if key != "words"
    }
    learned = weights["words"][1:]
    scale = np.float32(max(float(np.abs(learned).max()), 1e-6) / 127)
    arrays[f"{name}_words"] = np.rint(learned / scale).astype(np.int8)
    arrays[f"{name}_words_scale"] = np.array(scale, np.float32)
    return arrays
