"""Character offsets are checked wherever they enter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import RecordError
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.response import Quote, check_span


@pytest.mark.parametrize(
    ("start", "end", "length"), [(None, None, None), (None, None, 3), (0, 0, 0), (0, 3, 3), (2, 2, 3)]
)
def test_a_span_inside_its_text_passes(start: int | None, end: int | None, length: int | None) -> None:
    check_span(start, end, "claim 'c1'", length=length)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (None, 3, "claim 'c1' has only one of start and end; give both or neither"),
        (3, None, "claim 'c1' has only one of start and end; give both or neither"),
        (-2, 3, "claim 'c1' spans -2..3; expected 0 <= start <= end"),
        (-3, -1, "claim 'c1' spans -3..-1; expected 0 <= start <= end"),
        (4, 3, "claim 'c1' spans 4..3; expected 0 <= start <= end"),
        (0, 6, "claim 'c1' ends at 6, but its text has 5 characters; fix the span"),
    ],
)
def test_what_python_would_slice_silently_is_refused(start: int | None, end: int | None, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        check_span(start, end, "claim 'c1'", length=5)
    assert str(caught.value) == message


def test_a_claim_a_verdict_and_a_quote_refuse_a_bad_span_by_their_names() -> None:
    with pytest.raises(RecordError, match=r"^claim 'c1' spans 4\.\.3"):
        Claim("r1", "c1", start=4, end=3)
    with pytest.raises(RecordError, match=r"^verdict of 'human' on claim 'c1' has only one of start and end"):
        Verdict("r1", "c1", "human", Label.REFUTED, start=4)
    with pytest.raises(RecordError, match=r"^quote from 'e1' spans -1\.\.3"):
        Quote("e1", start=-1, end=3)


@given(st.text(), st.data())
def test_a_span_that_passes_slices_as_many_characters_as_it_says(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(-3, len(text) + 3))
    end = data.draw(st.integers(-3, len(text) + 3))
    is_inside = 0 <= start <= end <= len(text)
    if is_inside:
        check_span(start, end, "claim", length=len(text))
        assert len(text[start:end]) == end - start
    else:
        with pytest.raises(RecordError, match=r"^claim "):
            check_span(start, end, "claim", length=len(text))
