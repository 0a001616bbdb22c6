"""The string that lets someone else repeat a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.measurement import Signature

hostile = st.text(st.sampled_from("ab1 |:@\n\t-=가é"), max_size=12)


def test_parts_come_in_a_fixed_order() -> None:
    signature = Signature("mihr", "human", (("nei", "unsupported"), ("ci", "wilson")), seed=7, version="0.1.0")
    assert str(signature) == "mihr|judge:human|nei:unsupported|ci:wilson|seed:7|v:0.1.0"


def test_what_was_not_used_is_not_stated() -> None:
    assert str(Signature("far", None, (), seed=None, version="0.1.0")) == "far|v:0.1.0"
    assert str(Signature("far", None, (), seed=0, version="0.1.0")) == "far|seed:0|v:0.1.0"


@pytest.mark.parametrize(
    ("judge", "shown"),
    [
        ("openai:gpt-4o@2024-08-06", "openai-gpt-4o-2024-08-06"),
        ("a|seed:1|v:9", "a-seed-1-v-9"),
        (" two  words\n", "two-words"),
        ("판사:하나", "판사-하나"),
    ],
)
def test_a_judge_with_a_hostile_name_stays_one_part(judge: str, shown: str) -> None:
    assert str(Signature("mihr", judge, (), seed=None, version="1")) == f"mihr|judge:{shown}|v:1"


@given(judge=hostile, value=hostile, seed=st.none() | st.integers(0, 99))
def test_a_signature_comes_apart_into_the_parts_it_was_made_of(judge: str, value: str, seed: int | None) -> None:
    text = str(Signature("mihr", judge, (("by", value),), seed=seed, version="0.1.0"))
    metric, *named = text.split("|")
    parts = dict(part.split(":") for part in named)
    assert metric == "mihr"
    assert list(parts) == ["judge", "by", *(["seed"] if seed is not None else []), "v"]
    assert parts["v"] == "0.1.0"
    assert parts.get("seed") == (None if seed is None else str(seed))
    for name, original in (("judge", judge), ("by", value)):
        assert not set(parts[name]) & set("|:@ \n\t")
        kept = [character for character in original if character not in "|:@ \n\t-"]
        assert [character for character in parts[name] if character != "-"] == kept
