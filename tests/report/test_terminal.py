"""Tables for a terminal: every number a person needs, and nothing from a file that the terminal would obey."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.records.measurement import Counts, MetricSummary, Profile, Summary
from hallumeter.report.terminal import table_text


def row(metric: str, value: float | None, *, judge: str | None = "a", **changes: object) -> MetricSummary:
    facts: dict[str, object] = {
        "metric": metric,
        "by": {},
        "judge": judge,
        "count": None if value is None else 3.0,
        "total": 12.0,
        "value": value,
        "interval": None if value is None else (0.1, 0.4),
        "interval_method": None if value is None else "cluster_bootstrap",
        "direction": "lower",
        "undefined": "no claim is decided" if value is None else None,
        "undecided": 0,
        "failed": 0,
        "bounds": None if value is None else (value, value),
        "signature": f"{metric}|judge:{judge}|confidence:0.95|v:1",
    }
    return MetricSummary(**{**facts, **changes})  # type: ignore[arg-type]


def summary(*rows: MetricSummary, **changes: object) -> Summary:
    facts: dict[str, object] = {
        "version": 1,
        "instrument": "measure",
        "counts": Counts(
            records=1234, claims=12, verdicts=12, failures=1, records_without_claims=2, judges=1, models=3
        ),
        "metrics": rows,
    }
    return Summary(**{**facts, **changes})  # type: ignore[arg-type]


def line_with(text: str, *words: str) -> str:
    [line] = [line for line in text.splitlines() if all(word in line for word in words)]
    return line


def test_the_head_tells_how_much_was_measured() -> None:
    head = table_text(summary(row("mihr", 0.25))).splitlines()[0]
    for part in (
        "1,234 responses",
        "12 claims",
        "12 verdicts",
        "1 judge",
        "3 models",
        "1 failure",
        "2 without a claim",
    ):
        assert part in head


def test_a_row_has_name_value_interval_counts_and_what_is_missing() -> None:
    text = table_text(summary(row("mihr", 0.25, undecided=1234, failed=7, bounds=(0.2, 0.5))))
    line = line_with(text, "MiHR ↓")
    for part in ("0.250", "0.100 – 0.400", "3 / 12", "1,234", "7", "0.200 – 0.500"):
        assert part in line
    assert "mihr|judge:a|confidence:0.95|v:1" in text


def test_a_value_that_is_almost_zero_or_one_is_not_shown_as_such() -> None:
    text = table_text(summary(row("mihr", 0.00001), row("mahr", 0.99999)))
    assert "<0.001" in line_with(text, "MiHR ↓")
    assert ">0.999" in line_with(text, "MaHR ↓")


def test_the_interval_is_called_by_its_confidence() -> None:
    assert "95 % interval" in table_text(summary(row("mihr", 0.25)))
    other = table_text(summary(row("mihr", 0.25, signature="mihr|confidence:0.9|v:1")))
    assert "95 % interval" not in other


def test_what_is_undefined_says_why_and_shows_no_number() -> None:
    text = table_text(summary(row("mihr", None), row("mahr", None)))
    assert "0.000" not in text
    reason = line_with(text, "no claim is decided")
    assert "undefined" in reason
    assert "mihr" in reason
    assert "mahr" in reason


def test_a_warning_stands_below_its_number() -> None:
    text = table_text(summary(row("fleiss_kappa", 0.1, judge="all judges", note="labels are skewed")))
    assert "warning: fleiss_kappa: labels are skewed" in text


def test_groups_are_compared_side_by_side() -> None:
    rows = [row("mihr", 0.25)]
    rows += [row(name, 0.5, by={"model": model}) for model in ("one", "two") for name in ("mihr", "mahr")]
    text = table_text(summary(*rows))
    for model in ("one", "two"):
        line = line_with(text, model)
        assert line.count("0.500") == 2
        assert "12" in line


def test_groups_without_any_number_are_left_out() -> None:
    assert "By group" not in table_text(summary(row("mihr", 0.5), row("mihr", None, by={"model": "one"})))


def test_judges_are_compared_when_there_are_several() -> None:
    one = table_text(summary(row("mihr", 0.25)))
    assert "By judge" not in one
    pair = row("cohen_kappa", 0.4, judge="a & b")
    rows = [row("mihr", 0.25, judge="consensus"), row("mihr", 0.2, judge="a"), row("mihr", None, judge="b", failed=3)]
    several = table_text(summary(*rows, row("judge_sensitivity", 0.75, judge="a"), pair))
    below = several[several.index("By judge") :]
    assert "0.750" in line_with(below.split("kappa")[0], "0.200")
    assert "a & b" in below
    assert "0.400" in line_with(below, "a & b")


def test_of_many_pairs_of_judges_those_that_agree_least_are_named() -> None:
    judges = "abcde"
    pairs = [f"{one} & {two}" for place, one in enumerate(judges) for two in judges[place + 1 :]]
    rows = [row("mihr", 0.25, judge=judge) for judge in judges]
    rows += [row("cohen_kappa", 0.9 - place / 10, judge=pair) for place, pair in enumerate(pairs)]
    shown = [line for line in table_text(summary(*rows)).splitlines() if "kappa" in line]
    assert [line.split(":")[0].removeprefix("Cohen's kappa, ") for line in shown] == pairs[:-4:-1]
    assert "These pairs agree least; --format markdown has all 10." in table_text(summary(*rows))


def test_a_consensus_that_is_not_the_headline_stands_below_the_judges() -> None:
    rows = [row("mihr", 0.25, judge=judge) for judge in ("a", "consensus", "b")]
    text = table_text(summary(*rows))
    table = text[text.index("By judge") : text.index("signatures")]
    assert [line.split()[0] for line in table.splitlines() if "0.250" in line] == ["a", "b", "consensus"]
    assert "sensitivity" not in table, "a column without any number is left out"


def test_the_signatures_are_those_of_the_headline() -> None:
    text = table_text(summary(row("mihr", 0.25), row("gwet_ac1", 0.5, judge="all judges")))
    below = text[text.index("signatures") :]
    assert "mihr|" in below
    assert "gwet_ac1|" not in below
    assert "--format markdown" in below
    assert "gwet_ac1|" in table_text(summary(row("gwet_ac1", 0.5, judge="all judges")))


def test_every_profile_is_said_with_its_reasons() -> None:
    profiles = {
        "mine": Profile("mine", "low", is_high_risk=True, reasons=("mihr is 0.5, above 0.3",)),
        "other": Profile("other", "unknown", is_high_risk=False),
    }
    text = table_text(summary(row("mihr", 0.25), profile=profiles))
    line = line_with(text, "mine")
    assert "low" in line
    assert "HIGH RISK" in line
    assert "mihr is 0.5, above 0.3" in line
    assert "HIGH RISK" not in line_with(text, "other")


def test_an_empty_summary_is_its_head() -> None:
    assert table_text(summary()).startswith("1,234 responses")


def test_color_is_only_used_when_asked_for() -> None:
    some = summary(row("mihr", 0.25), profile={"p": Profile("p", "high", is_high_risk=False)})
    assert "\x1b" not in table_text(some)
    assert "\x1b[" in table_text(some, has_color=True, width=120)


def test_a_narrow_terminal_gets_narrow_tables() -> None:
    text = table_text(summary(row("mihr", 0.25)), width=100)
    assert max(len(line) for line in text.splitlines() if "|judge:" not in line) <= 100


def hostile_summary(name: str) -> Summary:
    rows = [row("mihr", 0.25, judge=name), row("mihr", 0.5, judge="b"), row("mihr", 0.5, judge=name, by={name: name})]
    return summary(*rows, row("cohen_kappa", 0.4, judge=f"{name} & b"))


@pytest.mark.parametrize(
    "name",
    ["\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb\nc", "\x9b31m", "a\x00b", "\u202eabc", "a\u2028b", "a\u2029b"],
)
def test_control_characters_in_names_do_not_reach_the_terminal(name: str) -> None:
    text = table_text(hostile_summary(name))
    assert not {mark for mark in text if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}
    assert len(text.splitlines()) == len(table_text(hostile_summary("x" * len(name))).splitlines())


@examples(max_examples=100)
@given(st.text(st.characters() | st.sampled_from("[]/:"), min_size=1, max_size=60))
def test_any_name_can_be_shown(name: str) -> None:
    text = table_text(hostile_summary(name))
    assert not {mark for mark in text if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}


@pytest.mark.parametrize("name", ["[/x]", "[red]x", "[link=file:///etc]x[/link]", ":smile:", "[", "\\[b]"])
def test_marks_of_the_table_writer_in_names_are_only_text(name: str) -> None:
    text = table_text(hostile_summary(name))
    assert text.count(name) >= 4
    assert f"Cohen's kappa, {name} & b: 0.400" in text


def test_reasons_and_notes_cannot_command_the_terminal() -> None:
    profiles = {"p": Profile("p", "low", is_high_risk=True, reasons=("a\x1b[2Jb",))}
    rows = [row("mihr", 0.25, note="a\x1b[2Jb"), row("mahr", None, undefined="a\x1b[2Jb")]
    text = table_text(summary(*rows, profile=profiles))
    assert text.count("a·[2Jb") == 3
    assert "\x1b" not in text
