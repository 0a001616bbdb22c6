"""Markdown: one table that stays a table whatever the names in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.records.measurement import Counts, MetricSummary, Profile, Summary
from hallumeter.report.summary_text import markdown_text


def row(value: float | None = 0.25, *, judge: str | None = "a", by: dict[str, str] | None = None) -> MetricSummary:
    return MetricSummary(
        metric="mihr",
        by=by or {},
        judge=judge,
        count=3.0,
        total=12.0,
        value=value,
        interval=None if value is None else (0.1, 0.4),
        interval_method=None,
        direction="lower",
        undefined=None if value is not None else "no claim is decided",
        undecided=2,
        failed=1,
        bounds=None if value is None else (0.2, 0.5),
        signature=f"mihr|judge:{judge}|v:1",
    )


def summary(*rows: MetricSummary, notices: tuple[str, ...] = ()) -> Summary:
    profile = {"p": Profile("p", "medium", is_high_risk=True, reasons=("mihr is high", "mahr as well"))}
    return Summary(1, "measure", Counts(2, 12, 12, 1), rows, profile, notices)


def table(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_a_row_has_everything_that_is_known_about_a_number() -> None:
    head, _, cells = table(markdown_text(summary(row())))
    found = dict(zip(head, cells, strict=True))
    assert found == {
        "metric": "Unsupported claims (MiHR) ↓",
        "judge": "a",
        "value": "0.250",
        "interval": "0.100 – 0.400",
        "counts": "3 / 12",
        "undecided": "2",
        "failed": "1",
        "best to worst": "0.200 – 0.500",
        "signature": "`mihr\\|judge:a\\|v:1`",
    }


def test_groups_have_a_column_each() -> None:
    head, _, whole, part = table(markdown_text(summary(row(), row(by={"model": "m", "task": "QA"}))))
    assert head[:2] == ["model", "task"]
    assert (whole[:2], part[:2]) == (["", ""], ["m", "QA"])


def test_what_is_undefined_says_why() -> None:
    text = markdown_text(summary(row(None, judge=None)))
    assert "- undefined: Unsupported claims (MiHR): no claim is decided" in text.splitlines()
    assert len(table(text)) == 2, "a row without a number is not in the table"


def test_what_is_undefined_for_the_same_reason_shares_a_line() -> None:
    rows = [row(None, by={"model": name}) for name in ("m", "n")]
    lines = markdown_text(summary(row(), *rows)).splitlines()
    assert [line for line in lines if "undefined" in line] == [
        "- undefined: Unsupported claims (MiHR) (2 figures): no claim is decided"
    ]
    alone = markdown_text(summary(row(), rows[0])).splitlines()
    assert "- undefined: Unsupported claims (MiHR) (model m, a): no claim is decided" in alone


def test_counts_profiles_and_notices_stand_around_the_table() -> None:
    text = markdown_text(summary(row(), notices=("'id' was read as record_id",)), has_profile=True)
    assert text.startswith("**2 responses, 12 claims, 12 verdicts, 1 failure**\n")
    assert "- **p**: reliability medium, high risk (mihr is high; mahr as well)" in text
    assert text.endswith("- note: 'id' was read as record\\_id\n")


@pytest.mark.parametrize("name", ["a|b", "a\nb", "a\r\n|x|", "<img src=x>", "[a](javascript:b)", "`a`", "*a*", "a\\|b"])
def test_a_name_stays_in_its_cell_and_means_nothing(name: str) -> None:
    rows = table(markdown_text(summary(row(judge=name), row(by={"model": name}))))
    assert {len(cells) for cells in rows} == {len(rows[0])}
    shown = rows[2][rows[0].index("judge")]
    for mark in "<>[]`*|":
        assert not re.search(rf"(?<!\\){re.escape(mark)}", shown)


@examples(max_examples=200)
@given(st.text(max_size=40))
def test_any_name_leaves_the_table_whole(name: str) -> None:
    text = markdown_text(summary(row(judge=name), row(by={"model": name}), row(by={name: "m"}), notices=(name,)))
    lines = [line for line in text.split("\n") if line.startswith("|")]
    assert len(lines) == 5
    unescaped = [re.sub(r"\\.", "", line).count("|") for line in lines]
    assert len(set(unescaped)) == 1


def test_a_signature_is_code_whatever_the_name_in_it() -> None:
    [_, _, cells] = table(markdown_text(summary(row(judge="`<img src=x>` \\| \x1b"))))
    assert cells[-1] == "`mihr\\|judge:'<img src=x>' /\\| ·\\|v:1`"


def test_a_policy_and_its_reasons_mean_nothing_to_a_renderer() -> None:
    some = Summary(1, "measure", Counts(), (), {"p": Profile("<b>", "low", is_high_risk=False, reasons=("*x*\x1b",))})
    assert "- **\\<b\\>**: reliability low (\\*x\\*·)" in markdown_text(some, has_profile=True)
