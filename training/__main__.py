"""Make the embedded judge, step by step: python -m training. What is done already is not done again."""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from hallumeter.claims.judges.embedded.model_files import FOLDER, PRESETS, Tier

from .batches import Item
from .claim_table import MeasuredText, measured_texts
from .decisions import HeldBack, fitted
from .examples import Example
from .export import export
from .folds import FOLDS, HALVES, fold_of, half_of
from .held_back import held_back
from .make_readings import items_of
from .network import quantized_rows, start_folder
from .packing import copied, pack
from .readers import FOR_THE_NETWORK, TO_CHOOSE_BY, read_all
from .swaps import swapped
from .train_network import Plan, saved_network, train
from .train_trees import trained, write_trees

ALL = "all"
CALIBRATION = "3"
"""Names how the tiers decide; another number for every fit that ships."""
_EVEN = dict.fromkeys(PRESETS, 0.5)
_NO_DECISION = {
    "fast": Tier(constant=0.0, weights={"trees": 1.0}, presets=_EVEN, calibration="none"),
    "full": Tier(constant=0.0, weights={"vote": 1.0}, presets=_EVEN, calibration="none"),
}


class Making:
    """The steps, and the folder in which their results are kept."""

    def __init__(self, data: Path, work: Path, *, plan: Plan, folds: tuple[int, ...]) -> None:
        self.data = data
        self.work = work
        self.plan = plan
        self.folds = folds
        """Folds without which a network is trained; the trees are trained without each."""
        work.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """All steps."""
        self._networks()
        for fold in (*range(FOLDS), None):
            name = ALL if fold is None else str(fold)
            self._kept(f"trees-{name}.done", lambda fold=fold, name=name: self._trees(fold, name))
        folders = {str(fold): self.work / f"model-{fold}" for fold in range(FOLDS)} | {ALL: FOLDER}
        for name, folder in folders.items():
            self._fill(folder, name)
        decisions = self._decisions()
        for fold in range(FOLDS):
            for half in range(HALVES):
                pack(decisions[half], copied(folders[str(fold)], self.work / f"model-{fold}-{half}"))
        pack(decisions[None], FOLDER)
        print(f"the model is in {FOLDER}; evaluate it with python -m training.evaluate")

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of a step, made once."""
        path = self.work / name
        if not path.exists():
            print(f"making {name}", flush=True)
            part = path.with_suffix(".part")
            part.write_bytes(pickle.dumps(make()))
            part.replace(path)
        return pickle.loads(path.read_bytes())

    def examples(self) -> list[Example]:
        """What trees, network and decisions are made from."""
        return self._kept("examples.pickle", lambda: read_all(self.data))

    def _items(self) -> list[Item]:
        plain = self.examples()
        return items_of([*plain, *read_all(self.data, FOR_THE_NETWORK), *swapped(plain)])

    def _networks(self) -> None:
        names = [*map(str, self.folds), ALL]
        missing = [name for name in names if not (self.work / f"network-{name}.pt").exists()]
        if missing:
            self._kept("items.pickle", self._items)
        # Two at a time, with a core each: that trains more than two cores on one.
        for first in range(0, len(missing), 2):
            command = [sys.executable, "-m", "training", "--data", str(self.data), "--work", str(self.work)]
            plan = ["--passes", str(self.plan.passes)]
            plan += ["--start", str(self.plan.start)] if self.plan.start is not None else []
            plan += [] if self.plan.has_warm_up else ["--no-warm-up"]
            jobs = [subprocess.Popen([*command, *plan, "--network", name]) for name in missing[first : first + 2]]
            if any(job.wait() for job in jobs):
                raise SystemExit("a network could not be trained; start again to go on where it stopped")

    def train_network(self, name: str) -> None:
        """Train one network."""
        self._kept("items.pickle", self._items)
        out = self.work / f"network-{name}.pt"
        if not out.exists():
            train(self.work / "items.pickle", out, self.plan, without=None if name == ALL else int(name))

    def _measured(self) -> list[MeasuredText]:
        return self._kept(
            "measured.pickle", lambda: measured_texts([*self.examples(), *read_all(self.data, TO_CHOOSE_BY)])
        )

    def _trees(self, fold: int | None, name: str) -> None:
        write_trees(trained(self._measured(), without=fold), self.work / f"trees-{name}.npz")

    def _fill(self, folder: Path, name: str) -> None:
        """Put the parts of a model into a folder; a fold without a network has only the fast tier."""
        folder.mkdir(exist_ok=True)
        (folder / "tokenizer.json").write_bytes((start_folder() / "tokenizer.json").read_bytes())
        words = load_file(start_folder() / "model.safetensors")["embeddings.word_embeddings.weight"]
        numbers, scales = quantized_rows(words.astype(np.float32))
        np.savez(folder / "words.npz", numbers=numbers, scales=scales)
        (folder / "trees.npz").write_bytes((self.work / f"trees-{name}.npz").read_bytes())
        trained_network = self.work / f"network-{name}.pt"
        if trained_network.exists():
            export(saved_network(trained_network), folder / "encoder.onnx")
        pack(_NO_DECISION, folder)

    def _decisions(self) -> dict[int | None, dict[str, Tier]]:
        """How the tiers decide, fitted without each half of the sources, and on all."""
        said: list[HeldBack] = []
        for fold in range(FOLDS):
            chosen = [each for each in self._measured() if fold_of(each.example) == fold]
            folder = self.work / f"model-{fold}"
            said += self._kept(f"held-back-{fold}.pickle", lambda c=chosen, f=folder: held_back(c, f))
        found = {}
        for half in (*range(HALVES), None):
            learned = [each for each in said if half is None or half_of(each.example) != half]
            read = [each for each in learned if each.reads is not None]
            found[half] = {
                "fast": fitted(learned, "fast", calibration=CALIBRATION),
                "full": fitted(read, "full", calibration=CALIBRATION),
            }
        return found


def main() -> None:
    """Read the options and run the steps."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the data sets")
    parser.add_argument("--work", type=Path, default=Path(".training"), help="where the results of steps are kept")
    parser.add_argument("--passes", type=float, default=Plan().passes, help="of a network over the main sets")
    parser.add_argument(
        "--start", type=Path, help="go on from this network, an encoder.onnx; it must know no fold held back"
    )
    parser.add_argument("--no-warm-up", action="store_true", help="begin with the main sets")
    parser.add_argument("--folds", type=int, nargs="*", default=list(range(FOLDS)), help="folds to hold back")
    parser.add_argument("--network", help="train this one network and nothing else")
    options = parser.parse_args()
    plan = Plan(passes=options.passes, start=options.start, has_warm_up=not options.no_warm_up)
    making = Making(options.data, options.work, plan=plan, folds=tuple(options.folds))
    if options.network:
        making.train_network(options.network)
    else:
        making.run()


if __name__ == "__main__":
    main()
