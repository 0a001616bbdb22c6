"""Names as numbers: the codes of a column do not depend on the form in which it comes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.measure import table as coding
from hallumeter.claims.measure.table import (
    MISSING,
    NO_HASH,
    FieldIndex,
    LabelIndex,
    NameIndex,
    dense_codes,
    first_appearance_order,
    hashes,
    numbers_of,
    value_at,
)
from hallumeter.formats.batch import Coded, Column, Numbers, expanded

CODED = Coded(["b", "a", None], np.array([0, 1, 2, 0]))
NUMBERS = Numbers(np.array([0.5, 0.0, 1.5]), np.array([False, True, False]))


def test_names_are_numbered_in_order_of_appearance() -> None:
    index = NameIndex()
    assert index.encode(["b", None, "a", "", "b", 3, "3"]).tolist() == [0, MISSING, 1, MISSING, 0, 2, 2]
    assert index.names == ["b", "a", "3"]


def test_a_compact_column_has_the_codes_of_its_rows() -> None:
    assert NameIndex().encode(CODED).tolist() == NameIndex().encode(["b", "a", None, "b"]).tolist()
    index = NameIndex()
    assert index.encode(NUMBERS).tolist() == [0, MISSING, 1]
    assert index.names == ["0.5", "1.5"]


def test_flags_and_lists_are_named_as_a_reader_would_write_them() -> None:
    index = FieldIndex()
    index.encode([True, False])
    index.encode([[1, 2], {"a": 1}])
    assert index.names == ["true", "false", "[1, 2]", "{'a': 1}"]


def test_labels_have_codes_and_unknown_ones_fail() -> None:
    index = LabelIndex()
    codes = index.encode(["SUPPORTED", "refuted", "not enough info", "Undecided", "maybe", None, "", "entailment"])
    assert codes.tolist() == [0, 1, 2, 3, 4, MISSING, MISSING, 0]
    assert index.aliases == {"entailment": "SUPPORTED"}
    assert LabelIndex().encode(Coded(["REFUTED", None], np.array([1, 0, 0]))).tolist() == [MISSING, 1, 1]


def test_ids_that_look_the_same_have_the_same_hash_and_a_missing_one_has_none() -> None:
    found = hashes([1, "1", None, "", "x"]).tolist()
    assert found[0] == found[1] != found[4]
    assert found[2] == found[3] == NO_HASH
    assert hashes(CODED).tolist() == hashes(["b", "a", None, "b"]).tolist()


def test_numbers_are_told_from_missing_ones() -> None:
    values, missing = numbers_of([0.5, None, float("nan")])
    assert missing.tolist() == [False, True, False]
    assert np.isnan(values).tolist() == [False, True, True]
    assert numbers_of([1, 2])[1].tolist() == [False, False]
    assert numbers_of(NUMBERS)[1].tolist() == [False, True, False]


def test_single_values_are_those_of_the_whole_column() -> None:
    columns: list[Column] = [CODED, NUMBERS, ["x", None, 5]]
    for column in columns:
        assert [value_at(column, row) for row in range(len(column))] == list(expanded(column))


@pytest.mark.parametrize("largest", [1 << 26, 3])
@given(keys=st.lists(st.integers(0, 20) | st.integers(-3, 2**40), max_size=20))
def test_dense_codes_number_the_distinct_keys_in_order(largest: int, keys: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coding, "LARGEST_DENSE", largest)
        distinct, codes = dense_codes(np.array(keys, dtype=np.int64))
    assert [distinct.tolist()[code] for code in codes.tolist()] == keys
    assert sorted(set(keys)) == distinct.tolist()


@given(st.lists(st.integers(-5, 5), max_size=20))
def test_keys_are_numbered_by_their_first_appearance(keys: list[int]) -> None:
    first, numbers = first_appearance_order(np.array(keys, dtype=np.int64))
    seen = list(dict.fromkeys(keys))
    assert numbers.tolist() == [seen.index(key) for key in keys]
    assert first.tolist() == [keys.index(key) for key in seen]
