"""Tables for a terminal: every number a person needs, and nothing from a file that the terminal would obey."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.records.measurement import Counts, MetricSummary, Profile, Summary
from hallumeter.report.terminal import Shown, table_text


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


def whole_text(found: Summary, *, width: int = 160, has_color: bool = False) -> str:
    """What --verbose prints for a user who gave a policy."""
    return table_text(found, shown=Shown(is_verbose=True, has_profile=True), width=width, has_color=has_color)


def line_with(text: str, *words: str) -> str:
    [line] = [line for line in text.splitlines() if all(word in line for word in words)]
    return line


def test_the_head_tells_how_much_was_measured() -> None:
    head = whole_text(summary(row("mihr", 0.25))).splitlines()[0]
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
    text = whole_text(summary(row("mihr", 0.25, undecided=1234, failed=7, bounds=(0.2, 0.5))))
    line = line_with(text, "Unsupported claims (MiHR) ↓")
    for part in ("0.250", "0.100 – 0.400", "3 / 12", "1,234", "7", "0.200 – 0.500"):
        assert part in line
    assert "mihr|judge:a|confidence:0.95|v:1" in text


def test_a_value_that_is_almost_zero_or_one_is_not_shown_as_such() -> None:
    text = whole_text(summary(row("mihr", 0.00001), row("mahr", 0.99999)))
    assert "<0.001" in line_with(text, "Unsupported claims (MiHR) ↓")
    assert ">0.999" in line_with(text, "Answers with an unsupported claim (MaHR) ↓")


def test_the_interval_is_called_by_its_confidence() -> None:
    assert "95 % interval" in whole_text(summary(row("mihr", 0.25)))
    other = whole_text(summary(row("mihr", 0.25, signature="mihr|confidence:0.9|v:1")))
    assert "95 % interval" not in other


def test_what_is_undefined_says_why_and_shows_no_number() -> None:
    text = whole_text(summary(row("mihr", None), row("mahr", None)))
    assert "0.000" not in text
    reason = line_with(text, "no claim is decided")
    assert "undefined" in reason
    assert "mihr" in reason
    assert "mahr" in reason


def test_a_warning_stands_below_its_number() -> None:
    text = whole_text(summary(row("fleiss_kappa", 0.1, judge="all judges", note="labels are skewed")))
    assert "warning: fleiss_kappa: labels are skewed" in text


def test_groups_are_compared_side_by_side() -> None:
    rows = [row("mihr", 0.25)]
    rows += [row(name, 0.5, by={"model": model}) for model in ("one", "two") for name in ("mihr", "mahr")]
    text = whole_text(summary(*rows))
    for model in ("one", "two"):
        line = line_with(text, model)
        assert line.count("0.500") == 2
        assert "12" in line


def test_groups_without_any_number_are_left_out() -> None:
    assert "By group" not in whole_text(summary(row("mihr", 0.5), row("mihr", None, by={"model": "one"})))


def test_judges_are_compared_when_there_are_several() -> None:
    one = whole_text(summary(row("mihr", 0.25)))
    assert "By judge" not in one
    pair = row("cohen_kappa", 0.4, judge="a & b")
    rows = [row("mihr", 0.25, judge="consensus"), row("mihr", 0.2, judge="a"), row("mihr", None, judge="b", failed=3)]
    several = whole_text(summary(*rows, row("judge_sensitivity", 0.75, judge="a"), pair))
    below = several[several.index("By judge") :]
    assert "0.750" in line_with(below.split("kappa")[0], "0.200")
    assert "a & b" in below
    assert "0.400" in line_with(below, "a & b")


def test_of_many_pairs_of_judges_those_that_agree_least_are_named() -> None:
    judges = "abcde"
    pairs = [f"{one} & {two}" for place, one in enumerate(judges) for two in judges[place + 1 :]]
    rows = [row("mihr", 0.25, judge=judge) for judge in judges]
    rows += [row("cohen_kappa", 0.9 - place / 10, judge=pair) for place, pair in enumerate(pairs)]
    shown = [line for line in whole_text(summary(*rows)).splitlines() if "kappa" in line]
    assert [line.split(":")[0].removeprefix("Cohen's kappa, ") for line in shown] == pairs[:-4:-1]
    assert "These pairs agree least; --format markdown has all 10." in whole_text(summary(*rows))


def test_a_consensus_that_is_not_the_headline_stands_below_the_judges() -> None:
    rows = [row("mihr", 0.25, judge=judge) for judge in ("a", "consensus", "b")]
    text = whole_text(summary(*rows))
    table = text[text.index("By judge") : text.index("signatures")]
    assert [line.split()[0] for line in table.splitlines() if "0.250" in line] == ["a", "b", "consensus"]
    assert "sensitivity" not in table, "a column without any number is left out"


def test_the_signatures_are_those_of_the_headline() -> None:
    text = whole_text(summary(row("mihr", 0.25), row("gwet_ac1", 0.5, judge="all judges")))
    below = text[text.index("signatures") :]
    assert "mihr|" in below
    assert "gwet_ac1|" not in below
    assert "--format markdown" in below
    assert "gwet_ac1|" in whole_text(summary(row("gwet_ac1", 0.5, judge="all judges")))


def test_every_profile_is_said_with_its_reasons() -> None:
    profiles = {
        "mine": Profile("mine", "low", is_high_risk=True, reasons=("mihr is 0.5, above 0.3",)),
        "other": Profile("other", "unknown", is_high_risk=False),
    }
    text = whole_text(summary(row("mihr", 0.25), profile=profiles))
    line = line_with(text, "mine")
    assert "low" in line
    assert "HIGH RISK" in line
    assert "mihr is 0.5, above 0.3" in line
    assert "HIGH RISK" not in line_with(text, "other")


def test_an_empty_summary_is_its_head() -> None:
    assert whole_text(summary()).startswith("1,234 responses")


def test_color_is_only_used_when_asked_for() -> None:
    some = summary(row("mihr", 0.25), profile={"p": Profile("p", "high", is_high_risk=False)})
    assert "\x1b" not in whole_text(some)
    assert "\x1b[" in whole_text(some, has_color=True, width=120)


def test_a_narrow_terminal_gets_narrow_tables() -> None:
    text = whole_text(summary(row("mihr", 0.25)), width=60)
    assert max(map(len, text.splitlines())) <= 60


def hostile_summary(name: str) -> Summary:
    rows = [row("mihr", 0.25, judge=name), row("mihr", 0.5, judge="b"), row("mihr", 0.5, judge=name, by={name: name})]
    return summary(*rows, row("cohen_kappa", 0.4, judge=f"{name} & b"))


@pytest.mark.parametrize(
    "name",
    ["\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb\nc", "\x9b31m", "a\x00b", "\u202eabc", "a\u2028b", "a\u2029b"],
)
def test_control_characters_in_names_do_not_reach_the_terminal(name: str) -> None:
    text = whole_text(hostile_summary(name))
    assert not {mark for mark in text if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}
    assert len(text.splitlines()) == len(whole_text(hostile_summary("x" * len(name))).splitlines())


@examples(max_examples=100)
@given(st.text(st.characters() | st.sampled_from("[]/:"), min_size=1, max_size=60))
def test_any_name_can_be_shown(name: str) -> None:
    text = whole_text(hostile_summary(name))
    assert not {mark for mark in text if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}


@pytest.mark.parametrize("name", ["[/x]", "[red]x", "[link=file:///etc]x[/link]", ":smile:", "[", "\\[b]"])
def test_marks_of_the_table_writer_in_names_are_only_text(name: str) -> None:
    text = whole_text(hostile_summary(name))
    assert text.count(name) >= 4
    assert f"Cohen's kappa, {name} & b: 0.400" in text


def test_reasons_and_notes_cannot_command_the_terminal() -> None:
    profiles = {"p": Profile("p", "low", is_high_risk=True, reasons=("a\x1b[2Jb",))}
    rows = [row("mihr", 0.25, note="a\x1b[2Jb"), row("mahr", None, undefined="a\x1b[2Jb")]
    text = whole_text(summary(*rows, profile=profiles))
    assert text.count("a·[2Jb") == 3
    assert "\x1b" not in text


# In brief.


def test_the_brief_has_what_was_read_and_the_rates_with_intervals_and_counts() -> None:
    shown = Shown(source="answers.jsonl")
    rows = [row("mihr", 40 / 403, interval=(0.055, 0.174), count=40.0, total=403.0)]
    rows += [row("mahr", 15 / 61, interval=(0.155, 0.367), count=15.0, total=61.0), row("mihr_refuted", 0.05)]
    lines = table_text(summary(*rows), shown=shown, width=80).splitlines()
    assert lines[0] == "1,234 answers with 12 claims in answers.jsonl, judged by a"
    assert lines[2] == "  Unsupported claims          9.9 %  (5.5 to 17.4)   40 of 403"
    assert lines[3] == "  Answers with at least one  24.6 %  (15.5 to 36.7)  15 of 61"
    assert lines[4] == "  In brackets: 95 % intervals."
    assert not any("refuted" in line.lower() or "mihr|" in line for line in lines)


def test_the_brief_never_hides_what_is_undecided_or_failed() -> None:
    missing = row("mihr", 0.25, undecided=3, failed=2, bounds=(0.2, 0.5))
    text = table_text(summary(missing), width=100)
    assert "Not counted: 3 undecided and 2 failed; with them, unsupported claims: 20.0 to 50.0 %" in text
    assert "2 answers without a claim count in no rate" in text
    assert "Not counted: 1 failure" in table_text(summary(row("mihr", 0.25)), width=100)


def test_the_brief_shows_no_share_as_none_or_all_that_is_not_quite_that() -> None:
    text = table_text(summary(row("mihr", 0.00001), row("mahr", 0.99999)), width=80)
    assert "<0.1 %" in line_with(text, "Unsupported claims")
    assert ">99.9 %" in line_with(text, "at least one")


def test_the_brief_gives_no_opinion_without_a_policy_and_no_consensus_that_nobody_asked_for() -> None:
    rows = [row("mihr", 0.25), row("consensus_f1", 0.4, judge=None, count=None)]
    found = summary(*rows, profile={"p": Profile("p", "high", is_high_risk=False)})
    assert "reliability" not in table_text(found)
    assert "onsensus" not in table_text(found)
    assert "onsensus" not in table_text(found, shown=Shown(is_verbose=True))
    asked = table_text(found, shown=Shown(has_profile=True, has_consensus=True), width=100)
    assert "reliability high" in asked
    assert "Model consensus: F1" in asked
    assert "higher is better" not in line_with(asked, "Unsupported claims")


def test_the_brief_says_why_consensus_is_undefined_to_whoever_asked() -> None:
    rows = [row("mihr", 0.25), row("consensus_f1", None, judge=None, undefined="no question has two models")]
    asked = table_text(summary(*rows), shown=Shown(has_consensus=True), width=100)
    assert "undefined: consensus_f1: no question has two models" in asked
    assert "undefined" not in table_text(summary(*rows), width=100)


def test_scores_of_other_tools_keep_their_scale_and_say_which_way_is_better() -> None:
    score = row("ragas:faithfulness", 0.75, judge=None, direction="higher", count=1.5, total=2.0)
    line = line_with(table_text(summary(score), width=80), "ragas:faithfulness")
    assert " ".join(line.split()) == "ragas:faithfulness 0.750 (0.100 to 0.400) n = 2, higher is better"


def test_the_brief_says_which_rate_to_quote() -> None:
    metric = "expected_unsupported_rate"
    calibrated = row(metric, 0.2, signature=f"{metric}|judge:a|threshold:0.3|calibration:2|confidence:0.95|v:1")
    text = table_text(summary(row("mihr", 0.25), calibrated), width=120)
    assert "the rate to quote" in line_with(text, "Expected share  ")
    assert "it depends on no threshold" in text
    assert "Expected share" not in table_text(summary(row("mihr", 0.25), row(metric, 0.2)), width=120)


def test_the_brief_has_groups_and_judges_side_by_side() -> None:
    rows = [row("mihr", 0.25, judge="consensus", undecided=2), row("mihr", 0.5, judge="a"), row("mahr", 0.5, judge="a")]
    rows += [row(metric, 0.5, judge="consensus", by={"model": "one"}) for metric in ("mihr", "mahr")]
    text = table_text(summary(*rows), width=80)
    assert line_with(text, "one ", "12").split() == ["one", "12", *["50.0", "%", "(10.0", "to", "40.0)"] * 2]
    below = text[text.index("By judge") :]
    assert line_with(below, "consensus").split()[-1] == "2"
    assert "failed" not in below


def test_a_summary_without_any_number_says_why() -> None:
    assert "undefined: mihr, mahr: no claim is decided" in table_text(summary(row("mihr", None), row("mahr", None)))
