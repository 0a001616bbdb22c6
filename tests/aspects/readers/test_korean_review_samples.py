"""The Korean reviews that come with the package, and how the reader does on them."""

import json
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from hallumeter.aspects.readers.korean.reader import KoreanReader
from hallumeter.aspects.records.aspect import POLARITIES


class Gold(NamedTuple):
    term: str
    polarity: str
    start: int | None
    end: int | None


class Review(NamedTuple):
    text_id: str
    text: str
    domain: str
    gold: list[Gold]


def reviews() -> list[Review]:
    file = resources.files("hallumeter").joinpath("samples", "reviews", "reviews_ko.jsonl")
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert list(row) == ["text_id", "text", "language", "domain", "gold_tuples"]
        assert row["language"] == "ko"
        gold = [
            Gold(
                each["aspect_term"],
                each["polarity"],
                each.get("span", {}).get("start"),
                each.get("span", {}).get("end"),
            )
            for each in row["gold_tuples"]
        ]
        found.append(Review(row["text_id"], row["text"], row["domain"], gold))
    return found


def test_there_are_sixty_reviews_of_four_kinds() -> None:
    rows = reviews()
    assert len(rows) == len({row.text_id for row in rows}) == len({row.text for row in rows}) == 60
    assert {row.domain for row in rows} == {"product", "restaurant", "hotel", "app"}


def test_every_term_stands_at_its_span() -> None:
    for row in reviews():
        for gold in row.gold:
            assert gold.polarity in POLARITIES
            if gold.term:
                assert row.text[gold.start : gold.end] == gold.term, row.text_id
            else:
                assert gold.start is gold.end is None


def test_terms_of_a_review_are_in_order_and_apart() -> None:
    for row in reviews():
        spans = [(gold.start or 0, gold.end or 0) for gold in row.gold if gold.term]
        assert all(before[1] <= after[0] for before, after in pairwise(spans)), row.text_id


def test_no_particle_is_part_of_a_term() -> None:
    reader = KoreanReader()
    for row in reviews():
        for gold in row.gold:
            if gold.start is not None and gold.end is not None:
                assert reader.without_particle(row.text, gold.start, gold.end) == gold.end


def test_the_reader_agrees_with_most_of_the_gold() -> None:
    reader = KoreanReader()
    right = asked = both = found = 0
    for row in reviews():
        terms = {row.text[term.start : term.end] for term in reader.read(row.text).terms}
        found += len(terms)
        for gold in row.gold:
            if gold.start is not None and gold.end is not None:
                asked += 1
                both += gold.term in terms
                right += reader.polarity_of(row.text, gold.start, gold.end).polarity == gold.polarity
    assert asked == 82
    assert 2 * both / (asked + found) > 0.85
    assert right / asked > 0.9
