"""The network gives the same verdicts whether onnxruntime runs it or numpy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedded_tasks import forget
from pinned_records import answered_tasks, pinned_rows, said_of

from hallumeter.claims.judges.embedded import encoder, network
from hallumeter.claims.judges.embedded.encoder import Engine, numpy_engine, onnx_engine, read_file
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.judges.embedded.model_files import model_bytes
from hallumeter.errors import SettingsError
from hallumeter.records.claim import Verdict

both = pytest.mark.skipif(util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    forget()
    yield
    forget()


def verdicts_by(engine: Callable[[], Engine], monkeypatch: pytest.MonkeyPatch, every: int) -> list[Verdict]:
    monkeypatch.setattr(network, "engine", engine)
    judge = EmbeddedJudge()
    said = [verdict for task in answered_tasks()[::every] for verdict in judge.judge(task)]
    return [each for each in said if isinstance(each, Verdict)]


def assert_equal_verdicts(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    by_onnx = verdicts_by(onnx_engine, monkeypatch, every)
    by_numpy = verdicts_by(numpy_engine, monkeypatch, every)
    pairs = list(zip(by_onnx, by_numpy, strict=True))
    # On processors with 8-bit dot products all are equal; on others onnxruntime's own sums are cut off.
    assert sum(one.label != other.label for one, other in pairs) <= len(pairs) // 200
    for one, other in pairs:
        assert (other.unsupported_probability or 0) == pytest.approx(one.unsupported_probability or 0, rel=0, abs=0.03)


@both
def test_both_engines_give_the_same_labels_on_bundled_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equal_verdicts(monkeypatch, every=6)


@both
@pytest.mark.long
def test_both_engines_give_the_same_labels_on_all_bundled_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equal_verdicts(monkeypatch, every=1)


def test_numpy_says_of_the_pinned_claims_what_was_said_when_the_model_was_shipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "engine", numpy_engine)
    rows = [row for row in pinned_rows() if "claim_id" not in row]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (row["expected"]["full"], said["full"]) for row, said in zip(rows, said_of(rows), strict=True)
    ]
    for expected, said in pairs:
        assert said["probability"] == pytest.approx(expected["probability"], rel=0, abs=0.03)
    # onnxruntime said it; one claim, at 0.33 and 0.32, is on both sides of the threshold.
    changed = [expected["probability"] for expected, said in pairs if said["label"] != expected["label"]]
    assert changed in ([], [pytest.approx(0.329, abs=0.001)])


def test_numpy_takes_over_where_onnxruntime_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(encoder.ENGINE, raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert encoder.engine() is numpy_engine()


@both
def test_onnxruntime_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(encoder.ENGINE, raising=False)
    assert encoder.engine() is onnx_engine()
    monkeypatch.setenv(encoder.ENGINE, "numpy")
    assert encoder.engine() is numpy_engine()


def test_an_engine_that_is_named_and_cannot_be_had_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setenv(encoder.ENGINE, "onnxruntime")
    with pytest.raises(SettingsError, match=r"HALLUMETER_ENCODER is onnxruntime: pip install 'hallumeter\[onnx\]'"):
        encoder.engine()
    monkeypatch.setenv(encoder.ENGINE, "torch")
    with pytest.raises(SettingsError, match="HALLUMETER_ENCODER is 'torch'; expected numpy or onnxruntime"):
        encoder.engine()


PROBABILITIES = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pinned_records import answered_tasks
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
judge = EmbeddedJudge()
print(json.dumps([said.unsupported_probability for task in answered_tasks()[::6] for said in judge.judge(task)]))
"""


def probabilities(**environment: str) -> list[float | None]:
    """What a program says that runs as on a processor of another kind."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBABILITIES, str(Path(__file__).parent)],
        env={**os.environ, encoder.ENGINE: "numpy", **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    said: list[float | None] = json.loads(done.stdout)
    return said


def test_numpy_says_the_same_without_the_instructions_of_this_processor() -> None:
    features = " ".join(np._core._multiarray_umath.__cpu_dispatch__)  # type: ignore[attr-defined]
    here = probabilities()
    elsewhere = probabilities(NPY_DISABLE_CPU_FEATURES=features, OPENBLAS_CORETYPE="Nehalem")
    assert len(here) > 30
    for one, other in zip(here, elsewhere, strict=True):
        assert (other or 0) == pytest.approx(one or 0, rel=0, abs=1e-9)


def test_one_token_and_the_longest_chunk_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (1, network.LENGTH):
        rows = numpy_engine()(network.vectors(np.arange(count) + 2000), np.zeros(count, np.int64))
        assert rows.shape == (count, 4)
        assert np.isfinite(rows).all()


def test_numpys_sums_of_whole_numbers_are_exact() -> None:
    rows = np.random.default_rng(3).integers(0, 256, (20, 1536))
    weights = read_file(model_bytes("encoder.onnx"))
    name = weights.products["encoder.encoder.layer.5.output.dense"]
    whole = weights.arrays[f"{name}_quantized"]
    assert (rows.astype(np.float32) @ whole.astype(np.float32) == rows @ whole.astype(np.int64)).all()


def test_weights_whose_sums_a_float_cannot_hold_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"encoder\.onnx of the embedded judge is damaged"):
        encoder.exact(np.full((1536, 1), 127, np.float32))


def test_a_file_without_the_networks_weights_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "model_bytes", lambda _: b"")
    with pytest.raises(SettingsError, match=r"encoder\.onnx of the embedded judge is damaged"):
        numpy_engine()
