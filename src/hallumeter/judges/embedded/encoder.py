"""The network of the full tier: it reads chunks and says four numbers of every token of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .chunks import Chunk
from .model_files import model_bytes
from .word_table import vectors

if TYPE_CHECKING:
    import onnxruntime

UNSUPPORTED, CONFLICT, ATTENTION, VOTE = range(4)


class ReadClaim(Struct, frozen=True):
    """What the network says of a claim."""

    unsupported: NDArray[np.float32]
    """For each token how much speaks for its being unsupported, as a logit."""
    conflict: NDArray[np.float32]
    """For each token how much speaks for a conflict if it is unsupported."""
    vote: float
    """How much speaks for the claim's being unsupported."""


def read_claims(chunks: Sequence[Chunk], count: int) -> list[ReadClaim]:
    """Read all chunks of a response, whose claims all have a token.

    Each is read alone: numbers in eight bits are scaled by what is read together, so that a batch would change them.
    """
    said: list[list[NDArray[np.float32]]] = [[] for _ in range(count)]
    for chunk in chunks:
        rows = _read(chunk)
        for part in chunk.parts:
            said[part.claim].append(rows[part.at : part.at + part.count])
    return [_claim(np.concatenate(parts)) for parts in said]


def _read(chunk: Chunk) -> NDArray[np.float32]:
    ids = np.asarray(chunk.ids, np.int64)
    kinds = np.asarray(chunk.kinds, np.int64)
    rows: NDArray[np.float32] = session().run(None, {"words": vectors(ids)[None], "kinds": kinds[None]})[0][0]
    return rows


def _claim(rows: NDArray[np.float32]) -> ReadClaim:
    weights = np.exp(np.clip(rows[:, ATTENTION], -15.0, 15.0))
    vote = float((weights * rows[:, VOTE]).sum() / weights.sum())
    return ReadClaim(rows[:, UNSUPPORTED], rows[:, CONFLICT], vote)


@cache
def session() -> onnxruntime.InferenceSession:
    """The network, ready to be run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Several processes use the cores better, and the result is the same on any machine.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model_bytes("encoder.onnx"), options, providers=["CPUExecutionProvider"])
