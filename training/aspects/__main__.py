"""Make the weights of the English reader of aspects: python -m training.aspects --data FOLDER.

The folder has MAMS-ATSA_train.xml. A quarter of its sentences at a time is held back to see how good the settings are
and to fit the confidences; then both networks are trained on all of them. The same data always gives the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hallumeter.aspects.readers import english
from hallumeter.aspects.readers.english.networks import FILE, PieceTable, weights_from
from hallumeter.aspects.readers.english.reader import Instruments

from .calibrating import HeldOut, calibration, read_held_out, summary
from .corpus import read_mams
from .examples import Example, Lexis, make_examples
from .packing import network_arrays, packed, word_list
from .polarity_training import PolarityTraining
from .term_training import TermTraining
from .vectors import piece_vectors

FOLDS = 4
SEED = 20
TARGET = Path(english.__file__).parent / FILE
Arrays = dict[str, NDArray[np.generic]]


def networks(examples: list[Example], lexis: Lexis, vectors: Arrays) -> Arrays:
    """Both networks trained on examples, with the words that they need."""
    terms = TermTraining(lexis, SEED).fit(examples)
    polarities = PolarityTraining(lexis, SEED).fit(examples)
    return {
        **vectors,
        "learned_words": word_list(list(lexis.words)),
        **network_arrays("term", terms),
        **network_arrays("polarity", polarities),
        "calibration": np.array([1.0, 0.0, 1.0], np.float32),
    }


def made(data: Path) -> bytes:
    """The file of weights."""
    names, numbers, scale = piece_vectors()
    vectors: Arrays = {"pieces": word_list(names), "vectors": numbers, "vectors_scale": np.array(scale, np.float32)}
    table = PieceTable(names, numbers.astype(np.float32) * scale)
    examples, lexis = make_examples(read_mams(data / "MAMS-ATSA_train.xml"), table)
    said = HeldOut([], [], 0, [], [])
    for fold in range(FOLDS):
        began = time.perf_counter()
        arrays = networks([each for place, each in enumerate(examples) if place % FOLDS != fold], lexis, vectors)
        part = read_held_out(examples[fold::FOLDS], Instruments.of(weights_from(packed(arrays))))
        print(f"held back {fold + 1}/{FOLDS} ({time.perf_counter() - began:.0f} s): {summary(part)}", flush=True)
        said = HeldOut(
            said.term_scores + part.term_scores,
            said.term_hits + part.term_hits,
            said.missed + part.missed,
            said.polarity_scores + part.polarity_scores,
            said.polarities + part.polarities,
        )
    print(f"all held back: {summary(said)}")
    arrays = networks(examples, lexis, vectors)
    arrays["calibration"] = calibration(said)
    print(f"calibration: {arrays['calibration']}")
    return packed(arrays)


def main() -> None:
    """Read the options and make the file."""
    parser = argparse.ArgumentParser(prog="python -m training.aspects", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with MAMS-ATSA_train.xml")
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the shipped file would change")
    options = parser.parse_args()
    with threadpool_limits(1):  # sums in another order would give other bytes
        content = made(options.data)
    is_same = TARGET.exists() and TARGET.read_bytes() == content
    if not options.check:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        TARGET.with_suffix(".sha256").write_text(f"{digest}  {TARGET.name}\n", encoding="ascii")
    print(f"{TARGET.name}: {len(content):,} bytes, {'as before' if is_same else 'changed'}")


if __name__ == "__main__":
    main()
