"""The tree of faults that a user can mend."""

from __future__ import annotations

import inspect
import pickle

import pytest

from hallumeter import errors
from hallumeter.errors import HallumeterError, InputError, MissingExtraError, RecordError, SettingsError

CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (HallumeterError, Exception),
        (InputError, HallumeterError),
        (RecordError, InputError),
        (SettingsError, HallumeterError),
        (MissingExtraError, HallumeterError),
    ],
)
def test_every_fault_has_its_place_in_the_tree(child: type[Exception], parent: type[Exception]) -> None:
    assert child.__bases__ == (parent,)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    assert all(found.__name__ in errors.__doc__ for found in CLASSES)
    assert len(CLASSES) == 5


def test_a_missing_extra_says_what_to_type() -> None:
    with pytest.raises(HallumeterError) as caught:
        raise MissingExtraError("parquet", "reading answers.parquet")
    assert str(caught.value) == (
        "reading answers.parquet needs an optional package; type: pip install 'hallumeter[parquet]'"
    )
    assert isinstance(caught.value, MissingExtraError)
    assert caught.value.extra == "parquet"


@pytest.mark.parametrize("fault", [InputError, RecordError, SettingsError])
def test_a_fault_shows_its_message_as_it_was_given(fault: type[HallumeterError]) -> None:
    assert str(fault("answers.jsonl:3: no label")) == "answers.jsonl:3: no label"


def test_a_missing_extra_comes_back_whole_from_another_process() -> None:
    back = pickle.loads(pickle.dumps(MissingExtraError("parquet", "reading answers.parquet")))
    assert isinstance(back, MissingExtraError)
    assert (back.extra, str(back)) == ("parquet", str(MissingExtraError("parquet", "reading answers.parquet")))
