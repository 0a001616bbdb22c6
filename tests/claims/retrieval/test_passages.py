"""Documents cut into passages that can be found again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.retrieval.documents import Document, cut

SENTENCE = "Ten plain words stand here so that they are counted."


def test_a_short_document_is_one_passage_with_its_place() -> None:
    passages = cut(Document("a/b.txt", f"\n  {SENTENCE}\n"))
    assert [(passage.evidence_id, passage.text) for passage in passages] == [("a/b.txt#3-55", SENTENCE)]


def test_a_long_document_is_cut_between_sentences_near_120_words() -> None:
    text = " ".join([SENTENCE] * 36)
    passages = cut(Document("a.txt", text))
    assert [len(passage.text.split()) for passage in passages] == [120, 120, 120]
    assert all(passage.text.startswith("Ten") and passage.text.endswith("counted.") for passage in passages)


def test_a_short_end_stays_with_the_passage_before_it() -> None:
    assert [len(passage.text.split()) for passage in cut(Document("a.txt", " ".join([SENTENCE] * 15)))] == [150]
    assert [len(passage.text.split()) for passage in cut(Document("a.txt", " ".join([SENTENCE] * 16)))] == [120, 40]


def test_a_sentence_without_end_is_cut_between_words() -> None:
    passages = cut(Document("table.txt", " ".join(f"cell{number}" for number in range(500))))
    assert [len(passage.text.split()) for passage in passages] == [120, 120, 120, 140]


def test_a_row_keeps_its_name_unless_it_is_cut() -> None:
    assert [passage.evidence_id for passage in cut(Document("d7", SENTENCE, is_row=True))] == ["d7"]
    long = cut(Document("d7", " ".join([SENTENCE] * 24), title="On words", is_row=True))
    assert [passage.evidence_id.partition("#")[0] for passage in long] == ["d7", "d7"]
    assert {passage.title for passage in long} == {"On words"}


@given(st.lists(st.sampled_from([SENTENCE, "Yes.", "한국어 문장이다.", "x " * 300, "\n\n", "Fin !"]), max_size=40))
def test_passages_stand_where_their_ids_say_and_leave_out_white_space_only(parts: list[str]) -> None:
    text = " ".join(parts)
    done = 0
    for passage in cut(Document("a.txt", text)):
        start, end = map(int, passage.evidence_id.removeprefix("a.txt#").split("-"))
        assert text[start:end] == passage.text
        assert not text[done:start].strip()
        done = end
    assert not text[done:].strip()
