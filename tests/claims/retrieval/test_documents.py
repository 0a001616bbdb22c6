"""What is read from a knowledge base, and what is listed as not read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hallumeter.claims.retrieval.documents import BaseFile, Document, Skipped, digest_of, list_files, read_documents
from hallumeter.errors import InputError


def read(base: Path) -> tuple[list[Document], list[Skipped]]:
    files, skipped = list_files(base)
    return list(read_documents(files, skipped.append)), skipped


def read_file(folder: Path, name: str, content: str | bytes) -> tuple[list[Document], list[Skipped]]:
    """A file inside a folder."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read(folder)


def test_folders_are_read_recursively_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "deep.MD").write_text("Deep.", encoding="utf-8")
    (tmp_path / "b" / "é.txt").write_text("Été.", encoding="utf-8-sig")
    (tmp_path / "a.txt").write_text("First.", encoding="utf-8")
    documents, skipped = read(tmp_path)
    assert [(document.name, document.text) for document in documents] == [
        ("a.txt", "First."),
        ("b/c/deep.MD", "Deep."),
        ("b/é.txt", "Été."),
    ]
    assert skipped == []


def test_everything_that_is_not_read_is_listed_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.txt").write_text("x", encoding="utf-8")
    (tmp_path / ".hidden.txt").write_text("x", encoding="utf-8")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    (tmp_path / "README").write_bytes(b"x")
    (tmp_path / "latin.txt").write_bytes("Été".encode("latin-1"))
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "marks.md").write_bytes(b"---\n***\n")
    (tmp_path / "lost.txt").symlink_to(tmp_path / "nowhere")
    documents, skipped = read(tmp_path)
    assert documents == []
    assert {entry.place: entry.reason for entry in skipped} == {
        ".git/": "hidden folder",
        ".hidden.txt": "hidden file",
        "scan.pdf": "not a text file: .pdf",
        "README": "not a text file: no suffix",
        "latin.txt": "not UTF-8 (byte 0)",
        "empty.txt": "no words",
        "marks.md": "no words",
        "lost.txt": "not a file: a broken link, a pipe or a device",
    }


def test_rows_of_json_lines_have_ids_titles_and_texts(tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": "d1", "title": "Paris", "text": "Capital of France."},
        {"evidence_id": "e2", "id": "d2", "passage": "Second."},
        {"id": 7, "content": "Third.", "source": "atlas"},
        {"text": "No id."},
        "Only a text.",
        {"id": "d1", "text": "The same id again."},
        {"id": "d9"},
        ["a", "list"],
        {"text": True},
    ]
    lines = [json.dumps(row) for row in rows]
    documents, skipped = read_file(tmp_path, "kb.jsonl", "\n".join([*lines, "", "{broken"]) + "\n")
    assert documents == [
        Document("d1", "Capital of France.", title="Paris", is_row=True),
        Document("e2", "Second.", is_row=True),
        Document("7", "Third.", title="atlas", is_row=True),
        Document("kb.jsonl:4", "No id.", is_row=True),
        Document("kb.jsonl:5", "Only a text.", is_row=True),
        Document("d1@kb.jsonl:6", "The same id again.", is_row=True),
    ]
    assert [entry.place for entry in skipped] == [f"kb.jsonl:{line}" for line in (7, 8, 9, 11)]
    assert skipped[0].reason == "no text in text, passage, content"
    assert skipped[1].reason == "expected an object with a text, found list"
    assert skipped[3].reason.startswith("not JSON: ")


def test_json_is_a_list_of_rows_or_one_row(tmp_path: Path) -> None:
    documents, _ = read_file(tmp_path, "list.json", '[{"text": "One."}, "Two."]')
    assert [document.name for document in documents] == ["list.json:1", "list.json:2"]
    (tmp_path / "list.json").unlink()
    documents, _ = read_file(tmp_path, "one.json", '{"text": "One."}')
    assert [document.name for document in documents] == ["one.json"]
    _, skipped = read_file(tmp_path, "broken.json", "{" * 100_000)
    assert [entry.place for entry in skipped] == ["broken.json"]


@pytest.mark.parametrize(("name", "delimiter"), [("table.csv", ","), ("table.tsv", "\t")])
def test_tables_need_a_column_of_texts(tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [["id", "text"], ["d1", '"Two\nlines."'], ["", "Second."]]
    documents, _ = read_file(tmp_path, name, "\n".join(delimiter.join(row) for row in rows))
    assert documents == [
        Document("d1", "Two\nlines.", is_row=True),
        Document(f"{name}:4", "Second.", is_row=True),
    ]
    documents, skipped = read_file(tmp_path, name, delimiter.join(["id", "body"]))
    assert documents == []
    assert skipped == [Skipped(name, "no column called text, passage, content")]


@pytest.mark.parametrize("name", ["kb.txt", "kb.tsv"])
def test_a_text_file_given_by_itself_holds_a_passage_per_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("atlas\tParis is in France.\n\nNo source.\r\n", encoding="utf-8")
    documents, skipped = read(path)
    assert documents == [
        Document(f"{name}:1", "Paris is in France.", title="atlas", is_row=True),
        Document(f"{name}:3", "No source.", is_row=True),
    ]
    assert skipped == []


def test_a_base_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        list_files(tmp_path / "nowhere")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    with pytest.raises(InputError, match=r"a folder or a file in \.txt, .*found '\.pdf'"):
        list_files(tmp_path / "scan.pdf")


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter there")
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt: cannot be opened \(No such file"):
        digest_of([BaseFile("gone.txt", tmp_path / "gone.txt")], "1")


def test_the_digest_changes_with_contents_names_and_settings_only(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One.", encoding="utf-8")
    first = digest_of(list_files(tmp_path)[0], "1")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    os.utime(path, (0, 0))
    assert digest_of(list_files(tmp_path)[0], "1") == first
    assert digest_of(list_files(tmp_path)[0], "2") != first
    path.write_text("Two.", encoding="utf-8")
    assert digest_of(list_files(tmp_path)[0], "1") != first
    path.write_text("One.", encoding="utf-8")
    path.rename(tmp_path / "b.txt")
    assert digest_of(list_files(tmp_path)[0], "1") != first
