"""The network that ships as weights to go on from: its tables in eight bits, read back as plain numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

_PREFIX = "model."
_QUANTIZED = "_quantized"


def shipped_weights(path: Path) -> dict[str, Tensor]:
    """Names and values of all weights of a network as `export` writes it, but for the table of words."""
    graph = onnx.load(path).graph
    values = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    weights = {name: value for name, value in values.items() if name.startswith(_PREFIX)}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            # Its name says where the product stands: /model/head/MatMul_quant
            module = node.name.rpartition("/")[0].strip("/").replace("/", ".")
            weights[f"{module}.weight"] = _plain(values, node.input[1].removesuffix(_QUANTIZED)).T
    return {name.removeprefix(_PREFIX): torch.from_numpy(value.copy()) for name, value in weights.items()}


def _plain(values: dict[str, np.ndarray], name: str) -> np.ndarray:
    """A table that was written in eight bits, one scale for each column."""
    numbers = values[name + _QUANTIZED].astype(np.float32) - values[f"{name}_zero_point"].astype(np.float32)
    return numbers * values[f"{name}_scale"]
