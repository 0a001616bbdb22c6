"""Write a trained network in the form that the package ships: ONNX, its large tables in eight bits."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from .network import TokenJudge
from .train_network import saved_network


class _Exported(nn.Module):
    """The network for one chunk, without padding."""

    def __init__(self, model: TokenJudge) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, kinds: Tensor) -> Tensor:
        return self.model(words, kinds, torch.ones_like(kinds))


def export(model: TokenJudge, path: Path) -> None:
    """Write the network; its products are in eight bits, one scale for each column."""
    model.eval()
    model.encoder.config._attn_implementation = "eager"
    words, kinds = torch.zeros(1, 16, 384), torch.zeros(1, 16, dtype=torch.long)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        # The table of words is no part of it.
        model.encoder.embeddings.word_embeddings = nn.Embedding(1, 384)
        torch.onnx.export(
            _Exported(model),
            (words, kinds),
            plain,
            input_names=["words", "kinds"],
            output_names=["said"],
            dynamic_axes={"words": {1: "length"}, "kinds": {1: "length"}, "said": {1: "length"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(plain, path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])


def main() -> None:
    """Export one network, trained or on its way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    export(saved_network(options.weights), options.out)
    print(options.out.stat().st_size)


if __name__ == "__main__":
    main()
