"""Scoring a file of outputs."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import msgspec
import pytest

from aspect_outputs import SECOND, failed_output, output, tuples
from hallumeter.aspects.grounding import target_words
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score import reading
from hallumeter.aspects.score.pipeline import Scored, ScoreSettings, read_allowlist, score_outputs
from hallumeter.aspects.score.reading import chunks_of, opened_lines
from hallumeter.errors import InputError, RecordError

SETTINGS = ScoreSettings(words=target_words())


def scored(path: Path, settings: ScoreSettings = SETTINGS) -> tuple[list[Scorecard], Scored]:
    stream = io.BytesIO()
    found = score_outputs(path, settings, stream.write)
    cards = [msgspec.json.decode(line, type=Scorecard) for line in stream.getvalue().splitlines()]
    return cards, found


def written(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, bytes) else msgspec.json.encode(line) for line in lines]
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path


def test_outputs_are_scored_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path / "o.jsonl", output("a"), output("b"), failed_output("c"))
    cards, found = scored(path)
    assert [card.case_id for card in cards] == ["a", "b", "c"]
    assert (found.sentences, found.failures_total) == (3, 0)


def test_several_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK_BYTES", 4096)
    path = written(tmp_path / "o.jsonl", *(output(f"s{number}") for number in range(40)))
    alone, _ = scored(path)
    together, _ = scored(path, ScoreSettings(words=target_words(), workers=2))
    assert alone == together


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    odd = {"text_id": "b", "input_text": "Fine.", "stage1": {"atsa": {"aspect_sentiments": [{"polarity": "mixed"}]}}}
    path = written(tmp_path / "o.jsonl", output("a"), b"{oops", b"", b'{"text_id": "x"}', b"[1]", b"\xff\xfe{}", odd)
    cards, found = scored(path)
    assert [card.case_id for card in cards] == ["a", "b"]
    assert [failure.message.partition(": ")[0] for failure in found.failures] == [
        f"o.jsonl:{line}" for line in (2, 4, 5, 6)
    ]
    assert "no input_text" in found.failures[1].message


def test_strict_stops_at_the_first_bad_line(tmp_path: Path) -> None:
    path = written(tmp_path / "o.jsonl", output("a"), b"{oops")
    with pytest.raises(RecordError, match=r"o\.jsonl:2: "):
        scored(path, ScoreSettings(words=target_words(), is_strict=True))


def test_a_file_without_an_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no output could be scored; the first fault: o\.jsonl:1"):
        scored(written(tmp_path / "o.jsonl", b"{oops"))
    with pytest.raises(InputError, match=r"no output could be scored$"):
        scored(written(tmp_path / "p.jsonl", b""))
    with pytest.raises(InputError, match="no such file"):
        scored(tmp_path / "q.jsonl")


def test_gold_is_joined_by_id_and_what_does_not_fit_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "o.jsonl", output("a", gold_tuples=None), output("b", gold_tuples=None))
    cards, found = scored(path, ScoreSettings(words=target_words(), gold={"a": tuples(SECOND), "z": ()}))
    assert [card.inputs is not None and card.inputs.gold_tuples is not None for card in cards] == [True, False]
    assert found.notices == ["gold of sentences that no output is about: 1", "sentences without gold: 1"]
    assert scored(path, ScoreSettings(words=target_words(), gold={"a": (), "b": ()}))[1].notices == []


def test_compressed_files_and_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + msgspec.json.encode(output("a")) + b"\r\n"))
    assert [card.case_id for card in scored(path)[0]] == ["a"]


def test_damaged_and_foreign_encodings_are_refused(tmp_path: Path) -> None:
    broken, wide = tmp_path / "o.jsonl.gz", tmp_path / "w.jsonl"
    broken.write_bytes(gzip.compress(b"{}" * 10_000)[:40])
    wide.write_bytes("{}\n".encode("utf-16"))
    with pytest.raises(InputError, match="cannot be read to its end"):
        scored(broken)
    with pytest.raises(InputError, match="UTF-16"):
        scored(wide)


def test_a_line_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST_LINE", 10)
    with pytest.raises(InputError, match="file:2: line of more than"):
        list(chunks_of(io.BytesIO(b"a\n" + b"b" * 100), "file", 8))


def test_the_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(b"a\nb")

    monkeypatch.setattr("sys.stdin", Input)
    with opened_lines(Path("-")) as chunks:
        assert [chunk.content for chunk in chunks] == [b"a\n", b"b"]


@pytest.mark.parametrize(
    ("name", "content", "terms"),
    [
        ("a.json", '["맛", "앱"]', ("맛", "앱")),
        ("a.yaml", "- 맛\n- 앱\n", ("맛", "앱")),
        ("a.yml", "allowlist: [맛]\n", ("맛",)),
        ("a.txt", "# targets\n맛\n\n앱, 국 ;향\n맛\n", ("맛", "앱", "국", "향")),
        ("a.csv", "맛\t앱\n", ("맛", "앱")),
    ],
)
def test_allowlists_are_read_in_several_forms(tmp_path: Path, name: str, content: str, terms: tuple[str, ...]) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_allowlist(tmp_path / name) == terms


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", json.dumps({"x": 1}), "expected a list of terms"),
        ("a.json", "[1, 2]", "expected a list of terms"),
        ("a.json", "[", "cannot be read as a list"),
        ("a.txt", "\n# nothing\n", "holds no term"),
        ("a.json", "[]", "holds no term"),
    ],
)
def test_a_file_without_terms_is_refused(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_allowlist(tmp_path / name)


def test_an_allowlist_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("a.txt", "missing.txt"):
        with pytest.raises(InputError, match="cannot be read"):
            read_allowlist(tmp_path / name)
