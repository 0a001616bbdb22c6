"""How far the network is from the labels."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from .batches import Batch
from .network import ATTENTION, CONFLICT, UNSUPPORTED, VOTE, TokenJudge
from .readings import CONFLICT as CONFLICT_LABEL
from .readings import UNKNOWN

POSITIVE_WEIGHT = 1.5
"""How much more a token counts that is unsupported: few are."""
KIND_SHARE, CLAIM_SHARE, RANK_SHARE = 0.2, 0.5, 0.3
"""How much the kind of an error, the label of a claim and the order of two claims count beside the labels of tokens."""


def loss_of(model: TokenJudge, batch: Batch) -> Tensor:
    """How far the model is from the labels: of tokens, of claims, and of the kind of what is unsupported."""
    said = model(model.encoder.embeddings.word_embeddings(batch.ids), batch.kinds, batch.mask).float()
    loss = _token_loss(said, batch)
    wrong = batch.labels > 0
    if wrong.any():
        kind = (batch.labels[wrong] == CONFLICT_LABEL).float()
        loss = loss + KIND_SHARE * functional.binary_cross_entropy_with_logits(said[..., CONFLICT][wrong], kind)
    votes = claim_votes(said, batch)
    return loss + CLAIM_SHARE * _claim_loss(votes, batch) + RANK_SHARE * _rank_loss(votes, batch)


def _token_loss(said: Tensor, batch: Batch) -> Tensor:
    known = batch.labels != UNKNOWN
    total = functional.binary_cross_entropy_with_logits(
        said[..., UNSUPPORTED][known],
        (batch.labels[known] > 0).float(),
        pos_weight=torch.tensor(POSITIVE_WEIGHT),
        reduction="sum",
    )
    return total / max(1, int(known.sum()))


def _claim_loss(votes: Tensor, batch: Batch) -> Tensor:
    """Of claims with a label, and of texts that were judged as a whole: there the claims' votes are joined."""
    loss = torch.zeros(())
    judged = batch.claims >= 0
    if judged.any():
        loss = functional.binary_cross_entropy_with_logits(votes[judged], batch.claims[judged])
    for first, last, label in batch.bags:
        joined = torch.logsumexp(votes[first:last], 0)
        loss = loss + functional.binary_cross_entropy_with_logits(joined, torch.tensor(label)) / len(batch.ids)
    return loss


def _rank_loss(votes: Tensor, batch: Batch) -> Tensor:
    """Of two claims that say nearly the same, the unsupported one shall have the higher vote."""
    wrong, right = batch.contrasts.T
    return functional.softplus(votes[right] - votes[wrong]).sum() / batch.items


def claim_votes(said: Tensor, batch: Batch) -> Tensor:
    """The vote of each claim: its tokens' votes by their weights."""
    inside = batch.owner >= 0
    owner = batch.owner[inside]
    weights = torch.exp(said[..., ATTENTION][inside].clamp(-15, 15))
    count = len(batch.claims)
    total = torch.zeros(count).index_add(0, owner, weights)
    votes = torch.zeros(count).index_add(0, owner, weights * said[..., VOTE][inside])
    return votes / total
