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
import torch
from safetensors.numpy import load_file

from hallumeter.judges.embedded.model_files import FOLDER, Tier

from .claim_table import claim_table
from .decisions import FAST, FULL, HeldBack, fitted
from .examples import Example
from .export import export
from .folds import FOLDS, fold_of
from .held_back import held_back
from .injection import injected
from .make_readings import weighted_readings
from .network import TokenJudge, quantized_rows, start_folder
from .packing import pack
from .readers import read_all
from .train_network import Plan, train
from .train_trees import trained, write_trees

ALL = "all"
_NO_DECISION = {"fast": Tier(0.0, {"trees": 1.0}, 0.5), "full": Tier(0.0, {"vote": 1.0}, 0.5)}


class Making:
    """The steps, and the folder in which their results are kept."""

    def __init__(
        self, data: Path, work: Path, *, minutes: float, folds: tuple[int, ...], start: Path | None = None
    ) -> None:
        self.data = data
        self.work = work
        self.minutes = minutes
        self.folds = folds
        """Folds without which a network is trained; the trees are trained without each."""
        self.start = start
        """The work folder of an earlier making, with whose networks to begin."""
        work.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """All steps."""
        examples: list[Example] = self._kept("examples.pickle", self._examples)
        plain = [each for each in examples if not each.data_set.startswith("injected")]
        self._networks(examples)
        table = claim_table(plain, self.work / "claims.npz")
        for fold in (*range(FOLDS), None):
            name = ALL if fold is None else str(fold)
            self._kept(f"trees-{name}.done", lambda fold=fold, name=name: self._trees(table, plain, fold, name))
        folders = {str(fold): self.work / f"model-{fold}" for fold in range(FOLDS)} | {ALL: FOLDER}
        for name, folder in folders.items():
            self._fill(folder, name)
        tiers = self._decisions(plain)
        for folder in folders.values():
            pack(tiers, folder)
        print(f"the model is in {FOLDER}; evaluate it with python -m training.evaluate")

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of a step, made once."""
        path = self.work / name
        if not path.exists():
            print(f"making {name}", flush=True)
            path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())

    def _examples(self) -> list[Example]:
        examples = read_all(self.data)
        return [*examples, *injected(examples)]

    def _networks(self, examples: list[Example]) -> None:
        names = [*map(str, self.folds), ALL]
        missing = [name for name in names if not (self.work / f"network-{name}.pt").exists()]
        if missing and not all((self.work / f"readings-{name}.pickle").exists() for name in missing):
            made = weighted_readings(examples)
            for name in names:
                kept = [each for number, each in made if name == ALL or fold_of(examples[number]) != int(name)]
                (self.work / f"readings-{name}.pickle").write_bytes(pickle.dumps(kept))
        # Two at a time, with a core each: that trains more than two cores on one.
        for first in range(0, len(missing), 2):
            command = [sys.executable, "-m", "training", "--work", str(self.work), "--minutes", str(self.minutes)]
            begin = [] if self.start is None else ["--start", str(self.start)]
            jobs = [subprocess.Popen([*command, *begin, "--network", name]) for name in missing[first : first + 2]]
            if any(job.wait() for job in jobs):
                raise SystemExit("a network could not be trained; start again to go on where it stopped")

    def train_network(self, name: str) -> None:
        """Train one network from its readings."""
        start = None if self.start is None else str(self.start / f"network-{name}.pt")
        train(self.work / f"readings-{name}.pickle", self.work / f"network-{name}.pt", Plan(self.minutes, start=start))

    def _trees(self, table: Any, examples: list[Example], fold: int | None, name: str) -> None:
        write_trees(trained(table, examples, without=fold), self.work / f"trees-{name}.npz")

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
            model = TokenJudge(start_folder())
            model.load_state_dict(torch.load(trained_network))
            export(model, folder / "encoder.onnx")
        pack(_NO_DECISION, folder)

    def _decisions(self, examples: list[Example]) -> dict[str, Tier]:
        said: list[HeldBack] = []
        for fold in range(FOLDS):
            chosen = [each for each in examples if fold_of(each) == fold]
            folder = self.work / f"model-{fold}"
            said += self._kept(f"held-back-{fold}.pickle", lambda c=chosen, f=folder: held_back(c, f))
        read = [each for each in said if each.reads is not None]
        return {"fast": fitted(said, FAST), "full": fitted(read, FULL)}


def main() -> None:
    """Read the options and run the steps."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the data sets")
    parser.add_argument("--work", type=Path, default=Path(".training"), help="where the results of steps are kept")
    parser.add_argument("--minutes", type=float, default=150, help="for each network")
    parser.add_argument("--folds", type=int, nargs="*", default=list(range(FOLDS)), help="folds to hold back")
    parser.add_argument("--start", type=Path, help="a work folder with whose networks to begin")
    parser.add_argument("--network", help="train this one network and nothing else")
    options = parser.parse_args()
    making = Making(
        options.data, options.work, minutes=options.minutes, folds=tuple(options.folds), start=options.start
    )
    if options.network:
        making.train_network(options.network)
    else:
        making.run()


if __name__ == "__main__":
    main()
