"""What the network reads at once: never too long, every token of every claim, and the evidence that says most."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from embedded_tasks import passages_of
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.judges.embedded.features import marked, measured_of
from hallumeter.claims.judges.embedded.network import (
    ALIKE,
    CLAIM_TOKENS,
    DOUBTED,
    KINDS,
    KNOWN,
    LENGTH,
    OTHER,
    QUESTION_TOKENS,
    SHARED,
    UNKNOWN,
    Chunk,
    MarkedClaim,
    chunks_of,
    read_claims,
)
from hallumeter.claims.judges.embedded.units import units_of
from hallumeter.claims.judges.embedded.word_pieces import CLS, SEP, tokens_of
from hallumeter.records.response import Response

EVIDENCE = (
    "The old tower of Paris is 330 metres high. A river runs through the town. Gustave built a bridge in Porto. "
    "The museum is closed on Mondays. Nobody lives on the hill. The harbour freezes in January."
)
WORDS = st.sampled_from(
    ["tower", "Paris", "330", "metres", "river", "Gustave", "museum", "elephants", "antidisestablishment", "탑은", "."]
)
CLAIMS = st.lists(
    st.builds(
        lambda words, count: " ".join(words * count), st.lists(WORDS, min_size=1, max_size=20), st.integers(1, 12)
    ),
    max_size=6,
)
TEXTS = st.builds(
    lambda words, count: " ".join(words * count), st.lists(WORDS, max_size=25), st.sampled_from([1, 1, 8, 40])
)


def claim_of(text: str) -> MarkedClaim:
    """A claim whose kinds are recognisable, but have no meaning."""
    tokens = tokens_of(text)
    return MarkedClaim(text, tokens, tuple(KNOWN + place % 4 for place in range(len(tokens))))


def read(claims: list[MarkedClaim], evidence: str = EVIDENCE, question: str = "") -> list[Chunk]:
    return chunks_of(claims, units_of(passages_of(evidence)), question=question)


def inside(chunk: Chunk, text: str) -> bool:
    """Whether the tokens of a text stand in a row in the evidence of a chunk."""
    ids = tokens_of(text).ids
    return any(chunk.ids[place : place + len(ids)] == ids for place in range(chunk.claims_at - len(ids) + 1))


@given(CLAIMS, TEXTS, TEXTS)
def test_no_chunk_is_longer_than_the_network_reads(claims: list[str], evidence: str, question: str) -> None:
    for chunk in read([claim_of(text) for text in claims], evidence, question):
        assert len(chunk.ids) <= LENGTH
        assert len(chunk.kinds) == len(chunk.ids)
        assert all(0 <= kind < KINDS for kind in chunk.kinds)
        assert chunk.ids[0] == CLS
        assert chunk.ids[-1] == chunk.ids[chunk.claims_at - 1] == SEP


@given(CLAIMS, TEXTS)
def test_every_token_of_every_claim_stands_in_exactly_one_part(texts: list[str], question: str) -> None:
    claims = [claim_of(text) for text in texts]
    read_tokens: Counter[tuple[int, int]] = Counter()
    for chunk in read(claims, question=question):
        place = chunk.claims_at
        for part in chunk.parts:
            assert part.at == place
            place += part.count
            said, taken = slice(part.at, place), slice(part.first, part.first + part.count)
            assert chunk.ids[said] == claims[part.claim].tokens.ids[taken]
            assert chunk.kinds[said] == claims[part.claim].kinds[taken]
            read_tokens.update((part.claim, token) for token in range(part.first, part.first + part.count))
        assert place == len(chunk.ids) - 1
    assert read_tokens == Counter(
        (number, token) for number, claim in enumerate(claims) for token in range(len(claim.tokens))
    )


@given(CLAIMS)
def test_claims_are_read_together_up_to_their_limit_and_in_their_order(texts: list[str]) -> None:
    chunks = read([claim_of(text) for text in texts])
    assert all(sum(part.count for part in chunk.parts) <= CLAIM_TOKENS for chunk in chunks)
    order = [(part.claim, part.first) for chunk in chunks for part in chunk.parts]
    assert order == sorted(order)
    for chunk, following in pairwise(chunks):
        assert sum(part.count for part in chunk.parts) + following.parts[0].count > CLAIM_TOKENS


@pytest.mark.parametrize("text", ["The river runs through the town.", "Gustave built a bridge.", "Harbours freeze."])
def test_the_best_unit_of_a_claim_is_read_beside_it(text: str) -> None:
    best = {
        "The": "A river runs through the town.",
        "Gus": "Gustave built a bridge in Porto.",
        "Har": "The harbour freezes",
    }
    filling = "The grey stone wall has a gate. " * 400
    (chunk,) = read([claim_of(text)], f"{filling}{EVIDENCE} {filling}")
    assert inside(chunk, best[text[:3]])


def test_each_of_several_claims_has_its_best_unit() -> None:
    filling = "The grey stone wall of Paris has a gate by the river. " * 400
    claims = [
        claim_of("The wall of Paris has a gate by the river."),
        claim_of("The museum is closed."),
        claim_of("Porto"),
    ]
    (chunk,) = read(claims, filling + EVIDENCE)
    assert inside(chunk, "The museum is closed on Mondays.")
    assert inside(chunk, "Gustave built a bridge in Porto.")


def test_evidence_stands_in_its_own_order_and_whole_where_there_is_room() -> None:
    (chunk,) = read([claim_of("The harbour freezes, the museum closes, the river runs.")])
    places = []
    for unit in units_of(passages_of(EVIDENCE)).units:
        ids = tokens_of(unit.text).ids
        places.append(next(place for place in range(chunk.claims_at) if chunk.ids[place : place + len(ids)] == ids))
    assert places == sorted(places)
    assert len(set(places)) == 6


def test_a_unit_that_is_too_long_for_the_room_is_read_from_its_beginning() -> None:
    unit = " ".join(["antidisestablishmentarianism"] * 40)
    assert len(tokens_of(unit)) > LENGTH
    (chunk,) = read([claim_of("antidisestablishmentarianism")], unit)
    assert len(chunk.ids) == LENGTH
    evidence = chunk.ids[1 : chunk.claims_at - 2]
    assert evidence == tokens_of(unit).ids[: len(evidence)]


def test_a_long_question_is_cut_and_a_short_one_stands_whole_at_the_front() -> None:
    (chunk,) = read([claim_of("It is high.")], question="How high is the tower?")
    asked = tokens_of("How high is the tower?").ids
    assert chunk.ids[: len(asked) + 2] == (CLS, *asked, SEP)
    (chunk,) = read([claim_of("It is high.")], question="high " * 500)
    assert chunk.ids[: QUESTION_TOKENS + 2] == (CLS, *tokens_of("high").ids * QUESTION_TOKENS, SEP)


def test_without_evidence_only_question_and_claims_are_read() -> None:
    (chunk,) = read([claim_of("It is high.")], evidence="")
    assert chunk.ids == (CLS, SEP, *tokens_of("It is high.").ids, SEP)


def test_words_of_the_evidence_that_the_claims_have_are_marked() -> None:
    (chunk,) = read([claim_of("Gustave built elephants.")])
    shared = {token for token, kind in zip(chunk.ids, chunk.kinds, strict=True) if kind == SHARED}
    assert set(tokens_of("gustave").ids) <= shared
    assert not shared & set(tokens_of("museum river harbour").ids)
    assert {OTHER, SHARED} == set(chunk.kinds[: chunk.claims_at])


def test_without_claims_nothing_is_read() -> None:
    assert read([]) == []
    assert read_claims([], 0) == []


def test_a_long_claim_is_read_in_parts_and_joined_to_all_its_tokens() -> None:
    texts = ["The tower is high.", "The old tower of Paris is 330 metres high. " * 30, "Nobody lives there."]
    claims = [claim_of(text) for text in texts]
    assert len(claims[1].tokens) > 2 * CLAIM_TOKENS
    chunks = read(claims)
    assert len(chunks) > 2
    joined = read_claims(chunks, len(claims))
    for claim, said in zip(claims, joined, strict=True):
        assert said.unsupported.shape == said.conflict.shape == (len(claim.tokens),)
        assert np.isfinite(said.unsupported).all()
        assert np.isfinite(said.vote)


def test_parts_of_a_claim_are_joined_in_their_order() -> None:
    claims = [claim_of("The old tower of Paris is 330 metres high. " * 20)]
    chunks = read(claims)
    (joined,) = read_claims(chunks, 1)
    apart = [read_claims([chunk], 1)[0].unsupported for chunk in chunks]
    assert len(apart) > 1
    assert np.array_equal(joined.unsupported, np.concatenate(apart))


def test_the_kinds_of_a_claims_tokens_say_what_the_evidence_has() -> None:
    response = Response("r", None, "x", passages_of(EVIDENCE))
    (measured,) = measured_of(response, ["The old tower of Paris is 290 metres high, xylophone."])
    claim = marked(measured)
    kinds = {claim.text[start:end]: kind for (start, end), kind in zip(claim.tokens.spans, claim.kinds, strict=True)}
    assert kinds["tower"] == kinds["Paris"] == KNOWN
    assert kinds["290"] == DOUBTED
    assert len(claim.kinds) == len(claim.tokens)
    assert set(claim.kinds) <= {KNOWN, ALIKE, UNKNOWN, DOUBTED}
