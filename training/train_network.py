"""Train the network on readings, for some minutes, in steps that can be stopped and resumed."""

from __future__ import annotations

import pickle
import random
import time
from pathlib import Path

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor
from torch.nn import functional

from .batches import Batch, WeightedReading, groups
from .network import ATTENTION, CONFLICT, UNSUPPORTED, VOTE, TokenJudge, start_folder
from .readings import CONFLICT as CONFLICT_LABEL
from .readings import UNKNOWN

POSITIVE_WEIGHT = 1.5
"""How much more a token counts that is unsupported: few are."""
KIND_SHARE, CLAIM_SHARE = 0.2, 0.5
"""How much the kind of an error and the label of a claim count beside the labels of tokens."""
FRESH = 10.0
"""How much faster the parts learn that begin from nothing."""
_WARM_UP = 60
_SAVE_SECONDS = 300
_SAY_EVERY = 25


class Plan(Struct, frozen=True):
    """How long and how fast to train."""

    minutes: float
    rate: float = 1.5e-4
    threads: int = 1
    seed: int = 0
    start: str | None = None
    """A network to begin with, instead of the one that nobody has trained for this."""


def train(readings: Path, out: Path, plan: Plan) -> None:
    """Train until the minutes are used up. What was reached is saved every few minutes, and taken up again."""
    torch.set_num_threads(plan.threads)
    torch.manual_seed(plan.seed)
    training = _Training(pickle.loads(readings.read_bytes()), out, plan)
    training.resume()
    while not training.is_over:
        training.run_epoch()
    training.finish()


class _Training:
    """A network on its way."""

    def __init__(self, readings: list[WeightedReading], out: Path, plan: Plan) -> None:
        self.readings = readings
        self.out = out
        self.plan = plan
        self.model = TokenJudge(start_folder())
        fresh = [*self.model.head.parameters(), *self.model.encoder.embeddings.token_type_embeddings.parameters()]
        begun = {id(each) for each in fresh}
        self.trained = [each for each in self.model.parameters() if each.requires_grad]
        old = [each for each in self.trained if id(each) not in begun]
        groups = [{"params": old, "times": 1.0}, {"params": fresh, "times": FRESH}]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.rate, weight_decay=0.01)
        self.step = self.epoch = self.tokens = 0
        self.spent_before = 0.0
        self.began = self.saved = time.monotonic()
        self.losses: list[float] = []

    @property
    def state(self) -> Path:
        return self.out.with_suffix(".state")

    @property
    def share(self) -> float:
        """How much of the time is used up."""
        return (self.spent_before + time.monotonic() - self.began) / (self.plan.minutes * 60)

    @property
    def is_over(self) -> bool:
        return self.share >= 1

    def resume(self) -> None:
        """Go on where an earlier run was stopped."""
        if not self.state.exists():
            if self.plan.start is not None:
                self.model.load_state_dict(torch.load(self.plan.start))
            return
        kept = torch.load(self.state)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.spent_before, self.step, self.epoch = kept["spent"], kept["step"], kept["epoch"] + 1

    def run_epoch(self) -> None:
        """All readings once, in an order of their own."""
        for group in groups(self.readings, random.Random(self.plan.seed * 1000 + self.epoch)):
            if self.is_over:
                return
            self._step(Batch(group))
            if self.step % _SAY_EVERY == 0:
                self._say()
            if time.monotonic() - self.saved > _SAVE_SECONDS:
                self._save()
        self.epoch += 1

    def finish(self) -> None:
        """Keep the network itself."""
        torch.save(self.model.state_dict(), self.out)
        self.state.unlink(missing_ok=True)
        self._say()

    def _step(self, batch: Batch) -> None:
        rate = self.plan.rate * min(1.0, (self.step + 1) / _WARM_UP) * max(0.0, 1 - self.share)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate * parameters["times"]
        self.model.train()
        loss = loss_of(self.model, batch)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        self.step += 1
        self.tokens += batch.ids.numel()
        self.losses.append(loss.item())

    def _say(self) -> None:
        pace = self.tokens / (time.monotonic() - self.began)
        loss = np.mean(self.losses[-200:]) if self.losses else float("nan")
        done = f"{self.share:.0%} of the time, step {self.step}, epoch {self.epoch}"
        print(f"{self.out.stem}: {done}, loss {loss:.4f}, {pace:.0f} tokens/s", flush=True)

    def _save(self) -> None:
        """To another file first: a run that is stopped while it saves loses nothing."""
        part = self.state.with_suffix(".part")
        spent = self.spent_before + time.monotonic() - self.began
        kept = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save({**kept, "spent": spent, "step": self.step, "epoch": self.epoch}, part)
        part.replace(self.state)
        self.saved = time.monotonic()


def loss_of(model: TokenJudge, batch: Batch) -> Tensor:
    """How far the model is from the labels: of tokens, of claims, and of the kind of what is unsupported."""
    said = model(model.encoder.embeddings.word_embeddings(batch.ids), batch.kinds, batch.mask)
    loss = _token_loss(said, batch)
    wrong = batch.labels > 0
    if wrong.any():
        kind = (batch.labels[wrong] == CONFLICT_LABEL).float()
        loss = loss + KIND_SHARE * functional.binary_cross_entropy_with_logits(said[..., CONFLICT][wrong], kind)
    return loss + CLAIM_SHARE * _claim_loss(claim_votes(said, batch), batch)


def _token_loss(said: Tensor, batch: Batch) -> Tensor:
    known = batch.labels != UNKNOWN
    weights = batch.weights[:, None].expand_as(batch.labels)[known]
    each = functional.binary_cross_entropy_with_logits(
        said[..., UNSUPPORTED][known],
        (batch.labels[known] > 0).float(),
        pos_weight=torch.tensor(POSITIVE_WEIGHT),
        reduction="none",
    )
    return (each * weights).sum() / max(1.0, float(weights.sum()))


def _claim_loss(votes: Tensor, batch: Batch) -> Tensor:
    """Of claims with a label, and of texts that were judged as a whole: there the claims' votes are joined."""
    loss = torch.zeros(())
    judged = batch.claims >= 0
    if judged.any():
        each = functional.binary_cross_entropy_with_logits(votes[judged], batch.claims[judged], reduction="none")
        loss = (each * batch.claim_weights[judged]).sum() / batch.claim_weights[judged].sum()
    for first, last, label in batch.bags:
        joined = torch.logsumexp(votes[first:last], 0)
        loss = loss + functional.binary_cross_entropy_with_logits(joined, torch.tensor(label)) / len(batch.ids)
    return loss


def claim_votes(said: Tensor, batch: Batch) -> Tensor:
    """The vote of each claim: its tokens' votes by their weights."""
    inside = batch.owner >= 0
    owner = batch.owner[inside]
    weights = torch.exp(said[..., ATTENTION][inside].clamp(-15, 15))
    count = len(batch.claims)
    total = torch.zeros(count).index_add(0, owner, weights)
    votes = torch.zeros(count).index_add(0, owner, weights * said[..., VOTE][inside])
    return votes / total
