"""Lists and documents that somebody wrote as text: read when they can only be that, and left as prose otherwise."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hallumeter.formats.literals import literal_of
from hallumeter.formats.records import looks_serialized, passages_of

TEXTS = ["The tower's height is 330 m.", 'It is "iron".']


def repr_of_document(text: str) -> str:
    metadata = "{'source': 'a.txt', 'page': 3, 'at': datetime.datetime(2024, 1, 2)}"
    return f"Document(id='a', metadata={metadata}, page_content={text!r})"


NODES = ", ".join(
    "NodeWithScore(node=TextNode(id_='n', embedding=None, metadata={}, relationships={<NodeRelationship.SOURCE: '1'>: "
    "RelatedNodeInfo(node_id='d', node_type=<ObjectType.DOCUMENT: '4'>)}, "
    f"text={text!r}, text_template='{{x}}'), score=0.5)"
    for text in TEXTS
)


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(TEXTS),
        repr(TEXTS),
        repr(tuple(TEXTS)),
        f" {TEXTS!r}\n",
        json.dumps([{"page_content": text, "metadata": {"source": "x"}} for text in TEXTS]),
        repr([{"page_content": text, "metadata": {"source": None, "score": 0.1}} for text in TEXTS]),
        repr([{"text": text, "score": float("nan")} for text in TEXTS]),
        f"[{', '.join(map(repr_of_document, TEXTS))}]",
        f"[{NODES}]",
        repr(np.array(TEXTS, dtype=object)),
        str(np.array(TEXTS, dtype=object)),
        repr([TEXTS]),
    ],
    ids=[
        "json",
        "list",
        "tuple",
        "spaces",
        "json docs",
        "docs",
        "texts",
        "Document",
        "nodes",
        "array",
        "str",
        "nested",
    ],
)
def test_a_list_written_as_text_is_the_list(written: str) -> None:
    assert [passage.text for passage in passages_of(written)] == TEXTS
    assert not looks_serialized(written)
    assert [passage.text for passage in passages_of([written])] == TEXTS


@pytest.mark.parametrize(
    "prose",
    [
        "[1] The tower is 330 m high.",
        "[Editor's note] The tower is high.",
        "[1, 2, 3]",
        "[sic]",
        "['twas the night before it opened",
        '["Quoted"] is a word.',
        "{braces} in prose",
        "(a, b) and (c, d)",
        "array of towers",
        '{"name": "The tower", "height": 330}',
        "{'name': 'The tower', 'height': 330}",
        '[{"name": "The tower", "height": 330}]',
        "Document(page_content) is a call",
        "",
        "[",
        "[]x",
    ],
)
def test_prose_stays_as_it_is(prose: str) -> None:
    assert [passage.text for passage in passages_of(prose)] == ([prose] if prose else [])
    assert not looks_serialized(prose)


@pytest.mark.parametrize(
    "cut",
    [
        "[{'page_content': 'The tower is 330 m hi",
        "[Document(metadata={'source': 'a'}, page_content='The tower is",
        "['The tower is 330 m high.', 'It is",
        "array(['The tower', ..., 'iron'], dtype=object)",
        '[{"page_content": "The tower", "metadata": {',
        "['a', __import__('os').system('true')]",
    ],
)
def test_what_looks_like_a_list_and_cannot_be_read_is_left_and_noticed(cut: str) -> None:
    assert [passage.text for passage in passages_of(cut)] == [cut]
    assert looks_serialized(cut)
    assert looks_serialized([cut])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a', 'b']", ["a", "b"]),
        ("[0.5, -1, 1e-3, None, True, nan, -inf]", [0.5, -1, 0.001, None, True, None, None]),
        ("{'a': [1, {'b': 'c'}]}", {"a": [1, {"b": "c"}]}),
        (r"['a\n\'é\'']", ["a\n'é'"]),
        ("['a' 'b'\n 'c']", ["a", "b", "c"]),
        ("[]", []),
        ("[1,]", [1]),
    ],
)
def test_a_literal_is_its_value(text: str, value: object) -> None:
    assert literal_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "1]",
        "[1 2 3",
        "[a + b]",
        "[" * 5000,
        "['a'] ['b']",
        "['" + "x" * (2 << 20) + "']",
        "[lambda: 0]",
        "[\\x]",
        "{'a'}",
        "{1: }",
    ],
)
def test_what_is_no_literal_is_none(text: str) -> None:
    assert literal_of(text) is None
