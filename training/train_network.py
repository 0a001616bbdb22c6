"""Train the network by passes over the readings, in steps that can be stopped and resumed at any moment."""

from __future__ import annotations

import contextlib
import pickle
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor

from .batches import Batch, Item, drawn, groups
from .losses import loss_of
from .mixture import MAIN, WARM_UP, times
from .network import TokenJudge, start_folder
from .shipped import shipped_weights

FRESH = 10.0
"""How much faster the parts learn that begin from nothing; not those of a network to go on from."""
COOLING = 0.3
"""The last part of the passes, in which the rate falls to nothing; before, it does not depend on their number."""
_FIRST_STEPS = 200
"""Steps in which the rate rises."""
_AVERAGED = 1000
"""Steps over which weights are averaged, for a network that is good before the rate has fallen."""
_SAVE_SECONDS = 120
_SAY_EVERY = 50
_TABLE = "encoder.embeddings.word_embeddings.weight"


class Plan(Struct, frozen=True):
    """How long and how fast to train."""

    passes: float = 6.0
    """Over the main sets; a training under way may be given fewer, to end sooner."""
    rate: float = 1.0e-4
    tokens: int = 1024
    """In a step."""
    seed: int = 0
    has_warm_up: bool = True
    steps: int | None = None
    """Stop after so many, for a trial."""
    start: Path | None = None
    """A network as the package ships it, to go on from; else the weights that everything began with."""


def train(items: Path, out: Path, plan: Plan, *, without: int | None) -> None:
    """Train without a fold until all passes are done; what was reached is saved every few minutes."""
    torch.set_num_threads(1)
    torch.manual_seed(plan.seed)
    training = Training([each for each in pickle.loads(items.read_bytes()) if each.fold != without], out, plan)
    training.resume()
    signal.signal(signal.SIGTERM, training.stop)
    while not training.is_over:
        training.run_pass()
    training.finish()


class Training:
    """A network on its way. Pass 0 is the one before the main training."""

    def __init__(self, items: list[Item], out: Path, plan: Plan) -> None:
        self.items = items
        self.out = out
        self.plan = plan
        self.model = TokenJudge(start_folder())
        if plan.start is not None:
            self.model.load_state_dict(shipped_weights(plan.start), strict=False)
        self.trained = [each for each in self.model.parameters() if each.requires_grad]
        fresh = [*self.model.head.parameters(), *self.model.encoder.embeddings.token_type_embeddings.parameters()]
        begun = {id(each) for each in fresh}
        old = [each for each in self.trained if id(each) not in begun]
        both = [{"params": old, "times": 1.0}, {"params": fresh, "times": FRESH if plan.start is None else 1.0}]
        self.optimizer = torch.optim.AdamW(both, lr=plan.rate, weight_decay=0.01, fused=True)
        self.average = [each.detach().clone() for each in self.trained]
        self.number = 0 if plan.has_warm_up else 1
        self.position = self.step = self.tokens = 0
        self.done = 0.0
        """Passes over the main sets."""
        self.began = time.monotonic()
        self.saved = time.process_time()
        self.losses: list[float] = []
        self.is_stopped = False

    @property
    def state(self) -> Path:
        """Where it is saved."""
        return self.out.with_suffix(".state")

    @property
    def is_over(self) -> bool:
        """Whether all is done."""
        return self.done >= self.plan.passes or (self.plan.steps is not None and self.step >= self.plan.steps)

    def resume(self) -> None:
        """Go on where an earlier run was stopped."""
        if not self.state.exists():
            return
        kept = torch.load(self.state, weights_only=True)
        self.model.load_state_dict(kept["model"], strict=False)
        self.optimizer.load_state_dict(kept["optimizer"])
        self.average = kept["average"]
        torch.set_rng_state(kept["random"])
        self.number, self.position, self.step, self.done = (kept[name] for name in _COUNTS)
        self._say()

    def run_pass(self) -> None:
        """The rest of a pass: its order depends on its number alone, so that it can be entered anywhere."""
        generator = random.Random(self.plan.seed * 1000 + self.number)
        often = [times(item.name, MAIN if self.number else WARM_UP) for item in self.items]
        batches = groups(drawn(self.items, often, generator), generator, tokens=self.plan.tokens)
        for place in range(self.position, len(batches)):
            if self.number:
                self.done = self.number - 1 + place / len(batches)
            if self.is_over:
                return
            self._step(Batch(batches[place], random.Random(f"{self.plan.seed} {self.number} {place}")))
            self.position = place + 1
            if self.step % _SAY_EVERY == 0:
                self._say()
            if self.is_stopped or time.process_time() - self.saved > _SAVE_SECONDS:
                self._save()
            if self.is_stopped:
                raise SystemExit("stopped; start again to go on")
        self.done = float(self.number)
        self.number, self.position = self.number + 1, 0

    def stop(self, *_: object) -> None:
        """End after this step, and save."""
        self.is_stopped = True

    def finish(self) -> None:
        """Keep the network itself, its weights averaged."""
        self._save()
        _fill(self.model, self.average)
        torch.save(self.model.state_dict(), self.out)
        self._say()

    def _rate(self) -> float:
        left = (self.plan.passes - self.done) / (COOLING * self.plan.passes)
        return self.plan.rate * min(1.0, (self.step + 1) / _FIRST_STEPS, max(0.0, left))

    def _step(self, batch: Batch) -> None:
        rate = self._rate()
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate * parameters["times"]
        self.model.train()
        with half_precision():
            loss = loss_of(self.model, batch)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        kept = min(1 - 1 / _AVERAGED, (self.step + 1) / (self.step + 10))
        torch._foreach_lerp_(self.average, [each.detach() for each in self.trained], 1 - kept)
        self.step += 1
        self.tokens += batch.ids.numel()
        self.losses.append(loss.item())

    def _say(self) -> None:
        pace = self.tokens / (time.monotonic() - self.began)
        loss = np.mean(self.losses[-400:]) if self.losses else float("nan")
        where = f"{self.done:.3f} of {self.plan.passes:g} passes" if self.number else f"warm-up, batch {self.position}"
        moment = time.strftime("%H:%M:%S", time.gmtime())
        print(f"{moment} {self.out.stem}: {where}, step {self.step}, loss {loss:.4f}, {pace:.0f} tokens/s", flush=True)

    def _save(self) -> None:
        """To another file first: a run that is stopped while it saves loses nothing."""
        part = self.state.with_suffix(".part")
        model = {name: value for name, value in self.model.state_dict().items() if name != _TABLE}
        kept: dict[str, Any] = {name: getattr(self, name) for name in _COUNTS}
        kept |= {"model": model, "optimizer": self.optimizer.state_dict(), "average": self.average}
        torch.save({**kept, "random": torch.get_rng_state()}, part)
        part.replace(self.state)
        self.saved = time.process_time()


_COUNTS = ("number", "position", "step", "done")


def saved_network(path: Path) -> TokenJudge:
    """A network that was trained, or one on its way: then its weights are averaged over its last steps."""
    model = TokenJudge(start_folder())
    kept = torch.load(path, weights_only=True)
    if path.suffix == ".state":
        model.load_state_dict(kept["model"], strict=False)
        _fill(model, kept["average"])
        print(f"{path.name}: {kept['done']:.2f} passes, step {kept['step']}")
    else:
        model.load_state_dict(kept)
    return model.eval()


def _fill(model: TokenJudge, weights: Sequence[Tensor]) -> None:
    trained = [each for each in model.parameters() if each.requires_grad]
    for each, value in zip(trained, weights, strict=True):
        each.data.copy_(value)


def half_precision() -> contextlib.AbstractContextManager[Any]:
    """Products in sixteen bits where the processor has them: half as long again the speed."""
    if torch.cpu._is_avx512_bf16_supported():
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()
