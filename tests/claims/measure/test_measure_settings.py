"""What a user can choose about a measurement, and what each choice changes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import hallumeter
from hallumeter import MeasureSettings, MetricSummary, SettingsError, Summary
from hallumeter.claims.measure.commands import measure_files, read_policy
from hallumeter.claims.profiles import Policy, Rule
from verdict_rows import Row, write_lines

GOOD: Row = {"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED"}


def row_of(summary: Summary, metric: str, judge: str | None = None, **by: str) -> MetricSummary:
    found = [row for row in summary.metrics if row.metric == metric and row.by == by and judge in (None, row.judge)]
    return found[0]


def many(records: int = 40) -> list[Row]:
    """Responses with three claims each, of which the last is unsupported in every third response."""
    return [
        {
            "record_id": f"r{record}",
            "claim_id": f"c{claim}",
            "label": "REFUTED" if claim == 2 and record % 3 == 0 else "SUPPORTED",
            "task": "QA" if record % 2 else "D2T",
            "document": f"d{record // 4}",
        }
        for record in range(records)
        for claim in range(3)
    ]


def test_aliases_of_fields_and_labels_are_said(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": 1, "claim_id": 1, "label": "entailment", "claim": "x"}])
    notices = hallumeter.measure(path).notices
    assert "'id' was read as record_id" in notices
    assert "'claim' was read as text" in notices
    assert "'entailment' was read as SUPPORTED" in notices


def test_the_consensus_is_said_to_be_the_headline() -> None:
    rows: list[Row] = [{**GOOD, "judge": judge} for judge in "ab"]
    assert "headline figures rest on the consensus of 2 judges" in hallumeter.measure(rows).notices


def test_answers_alone_are_measured_and_missing_verdicts_are_said() -> None:
    rows: list[Row] = [
        {"record_id": 1, "response": "I do not know.", "answerable": False},
        {"record_id": 2, "response": "It is in Paris.", "is_nonexistent": True},
        {"record_id": 3, "response": "It is in Rome.", "answerable": True},
    ]
    summary = hallumeter.measure(rows)
    assert "no verdict was found: claim metrics are left out" in summary.notices
    assert not [row for row in summary.metrics if row.metric == "mihr"]
    far = row_of(summary, "far")
    assert (far.count, far.total, far.value) == (1, 2, 0.5)
    assert summary.profile["hallumeter"].measured == ("far",)


def test_a_field_on_the_first_row_of_a_response_holds_for_all_its_rows() -> None:
    rows: list[Row] = [
        {**GOOD, "task": "QA"},
        {**GOOD, "claim_id": "c2", "label": "REFUTED"},
        {**GOOD, "record_id": "r2"},
    ]
    summary = hallumeter.measure(rows, by=["task"])
    assert (row_of(summary, "mihr", task="QA").count, row_of(summary, "mihr", task="QA").total) == (1, 2)
    assert row_of(summary, "mihr", task="(none)").total == 1


def test_a_field_of_the_claim_splits_a_response_but_not_the_whole() -> None:
    rows: list[Row] = [
        {**GOOD, "claim_id": f"c{number}", "label": label, "kind": kind}
        for number, (label, kind) in enumerate([("SUPPORTED", "date"), ("REFUTED", "name"), ("SUPPORTED", "name")])
    ]
    summary = hallumeter.measure(rows, by=["kind"])
    assert (row_of(summary, "mahr").count, row_of(summary, "mahr").total) == (1, 1)
    assert (row_of(summary, "mihr", kind="date").count, row_of(summary, "mihr", kind="date").total) == (0, 1)
    assert (row_of(summary, "mihr", kind="name").count, row_of(summary, "mihr", kind="name").total) == (1, 2)


def test_grouping_changes_no_number_of_the_whole() -> None:
    alone = hallumeter.measure(many()).metrics
    grouped = [row for row in hallumeter.measure(many(), by=["task"]).metrics if not row.by]
    assert list(alone) == grouped


def test_groups_of_two_fields_are_those_that_occur_in_the_order_of_their_names() -> None:
    rows: list[Row] = [{**GOOD, "record_id": f"{a}{b}", "a": a, "b": b} for a, b in [("y", 1), ("x", 2), ("x", "1")]]
    summary = hallumeter.measure(rows, by=["a", "b"])
    groups = [row.by for row in summary.metrics if row.metric == "mihr" and row.by]
    assert groups == [{"a": "x", "b": "1"}, {"a": "x", "b": "2"}, {"a": "y", "b": "1"}]


def test_a_list_or_an_object_can_be_grouped_by() -> None:
    rows: list[Row] = [{**GOOD, "record_id": str(tag), "tag": tag} for tag in ([1, 2], {"a": 1}, "x", 1.5)]
    summary = hallumeter.measure(rows, by=["tag"])
    assert {row.by["tag"] for row in summary.metrics if row.by} == {"[1, 2]", "{'a': 1}", "x", "1.5"}


def test_a_cluster_widens_the_interval_and_stands_in_the_signature() -> None:
    by_response = row_of(hallumeter.measure(many(120)), "mihr")
    rows = [{**row, "document": "even" if int(str(row["record_id"])[1:]) < 60 else "odd"} for row in many(120)]
    by_document = row_of(hallumeter.measure(rows, settings=MeasureSettings(cluster="document")), "mihr")
    assert by_response.value == by_document.value
    assert by_response.interval != by_document.interval
    assert "cluster:document" in by_document.signature
    assert "cluster" not in by_response.signature.replace("cluster-bootstrap", "")


def test_a_cluster_given_on_one_row_holds_for_its_response_and_others_stand_alone() -> None:
    rows = [row if row["claim_id"] == "c0" else {**row, "document": None} for row in many()]
    whole = hallumeter.measure(many(), settings=MeasureSettings(cluster="document"))
    assert hallumeter.measure(rows, settings=MeasureSettings(cluster="document")).metrics == whole.metrics
    alone: list[Row] = [{**row, "document": None} for row in many()]
    alone[0]["document"] = "d"
    as_responses = row_of(hallumeter.measure(alone, settings=MeasureSettings(cluster="document")), "mihr")
    assert as_responses.interval == row_of(hallumeter.measure(many()), "mihr").interval


def panel() -> list[Row]:
    """Judge c is often wrong; a and b agree."""
    return [
        {"record_id": f"r{number // 4}", "claim_id": f"c{number}", "judge": judge, "label": label}
        for number in range(24)
        for judge, label in [
            ("a", "REFUTED" if number % 4 == 0 else "SUPPORTED"),
            ("b", "REFUTED" if number % 4 == 0 else "SUPPORTED"),
            ("c", "REFUTED" if number % 4 == 1 else "SUPPORTED"),
        ]
    ]


def test_the_headline_judge_comes_first_and_makes_the_profile() -> None:
    summary = hallumeter.measure(panel(), settings=MeasureSettings(headline="c"))
    assert summary.metrics[0].judge == "c"
    assert row_of(summary, "mihr", "c").count == 6
    assert {row.judge for row in summary.metrics if row.metric == "mihr"} == {"consensus", "a", "b", "c"}
    assert not [notice for notice in summary.notices if "consensus" in notice]


def test_an_unknown_headline_judge_is_refused_with_those_found() -> None:
    with pytest.raises(SettingsError, match=r"no verdict is by a judge called 'd'; judges found: a, b, c"):
        hallumeter.measure(panel(), settings=MeasureSettings(headline="d"))


def test_the_consensus_may_be_asked_for_by_name() -> None:
    named = hallumeter.measure(panel(), settings=MeasureSettings(headline="consensus"))
    assert named == hallumeter.measure(panel())


def test_dawid_skene_takes_the_side_of_the_better_judges() -> None:
    """With a and b always alike and c at odds, the estimated errors put the truth where a and b are: 6 of 24."""
    summary = hallumeter.measure(panel(), settings=MeasureSettings(consensus="dawid-skene"))
    assert (row_of(summary, "mihr").judge, row_of(summary, "mihr").count) == ("consensus", 6)
    tied = [row for row in panel() if row["judge"] != "b"]
    assert row_of(hallumeter.measure(tied), "mihr").undecided == 12
    assert row_of(hallumeter.measure(tied, settings=MeasureSettings(consensus="dawid-skene")), "mihr").undecided == 0


def test_dawid_skene_leaves_claims_without_a_decided_vote_undecided() -> None:
    open_: list[Row] = [{"record_id": "x", "claim_id": "x", "judge": judge, "label": "UNDECIDED"} for judge in "abc"]
    summary = hallumeter.measure([*panel(), *open_], settings=MeasureSettings(consensus="dawid-skene"))
    assert row_of(summary, "mihr").undecided == 1


@pytest.mark.parametrize(
    "second",
    [{"label": "UNDECIDED"}, {"label": "nonsense"}, {"claim_id": "c2"}, {"record_id": "r2", "task": "other"}],
)
def test_agreement_is_undefined_where_judges_decided_no_claim_together(second: Row) -> None:
    rows: list[Row] = [{**GOOD, "judge": "a", "task": "one"}, {**GOOD, "judge": "b", "task": "one", **second}]
    row = row_of(hallumeter.measure(rows, by=["task"]), "fleiss_kappa")
    assert row.value is None
    assert row.undefined


def models() -> list[Row]:
    """Two models state one claim in common about each question, in slightly different words."""
    return [
        {
            "record_id": f"q{question}",
            "claim_id": f"{model}{number}",
            "model": model,
            "label": "SUPPORTED",
            "text": text,
        }
        for question in range(3)
        for model, texts in [
            ("one", ["Marie Curie won two Nobel Prizes", "She was born in Warsaw"]),
            ("two", ["Marie Curie won 2 Nobel Prizes", "She was born in Warsaw."]),
        ]
        for number, text in enumerate(texts)
    ]


def test_a_similarity_joins_claims_that_are_alike() -> None:
    exact = hallumeter.measure(models())
    fuzzy = hallumeter.measure(models(), settings=MeasureSettings(similarity=0.8))
    assert row_of(fuzzy, "consensus_recall").value == 1.0
    assert (row_of(exact, "consensus_recall").value or 0) < 1.0
    assert "identity:fuzzy-0.8" in row_of(fuzzy, "consensus_recall").signature
    assert row_of(fuzzy, "consensus_f1", model="one").value == 1.0


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([GOOD], "needs the answers of several models"),
        ([{**GOOD, "model": "a"}, {**GOOD, "model": "b"}], "needs the text of each claim"),
        (
            [{**GOOD, "record_id": model, "model": model, "text": "t", "question": model} for model in "ab"],
            "no question is answered by two models",
        ),
    ],
)
def test_a_consensus_metric_that_cannot_be_told_says_what_it_needs(rows: list[Row], said: str) -> None:
    row = row_of(hallumeter.measure(rows), "consensus_f1")
    assert row.value is None
    assert said in (row.undefined or "")


def test_models_that_share_a_question_id_are_compared() -> None:
    rows: list[Row] = [
        {"record_id": model, "claim_id": "c", "model": model, "label": "SUPPORTED", "text": "t", "question_id": 7}
        for model in "ab"
    ]
    assert row_of(hallumeter.measure(rows), "consensus_f1").value == 1.0


def test_less_confidence_gives_a_narrower_interval() -> None:
    wide = row_of(hallumeter.measure(many()), "mihr")
    narrow = row_of(hallumeter.measure(many(), settings=MeasureSettings(confidence=0.9)), "mihr")
    assert wide.interval is not None
    assert narrow.interval is not None
    assert narrow.value == wide.value
    assert narrow.interval[1] - narrow.interval[0] < wide.interval[1] - wide.interval[0]
    assert "confidence:0.9|" in narrow.signature


def test_a_seed_repeats_and_another_seed_differs() -> None:
    first, again, other = (
        row_of(hallumeter.measure(many(), settings=MeasureSettings(seed=seed, resamples=100)), "mihr")
        for seed in (7, 7, 8)
    )
    assert first == again
    assert first.interval != other.interval
    assert ("seed:7" in first.signature, "seed:8" in other.signature) == (True, True)
    assert "cluster-bootstrap-100" in first.signature


@pytest.mark.parametrize("method", ["information", "variance", "literal"])
def test_uncertainty_is_split_as_asked(method: str) -> None:
    """Two certain samples that contradict each other: the mean is even, so its entropy is ln 2 nats."""
    rows: list[Row] = [{**GOOD, "probabilities": [0.5, 0.5], "inference_samples": [[1, 0], [0, 1]]}]
    settings = MeasureSettings(uncertainty=method)  # type: ignore[arg-type]
    summary = hallumeter.measure(rows, settings=settings)
    assert row_of(summary, "shannon_entropy").value == pytest.approx(math.log(2))
    epistemic = row_of(summary, "uncertainty_epistemic")
    assert f"method:{method}" in epistemic.signature
    if method == "information":
        assert epistemic.value == pytest.approx(math.log(2))
        assert row_of(summary, "uncertainty_aleatoric").value == 0


def test_samples_alone_give_their_mean_as_the_distribution() -> None:
    rows: list[Row] = [{**GOOD, "inference_samples": [[1, 0], [0, 1]]}]
    assert row_of(hallumeter.measure(rows), "shannon_entropy").value == pytest.approx(math.log(2))


def test_policies_are_the_users_when_given() -> None:
    policy = Policy("mine", (Rule("mihr", good=0.1, bad=0.2),))
    summary = hallumeter.measure(many(), settings=MeasureSettings(policies=(policy,)))
    assert list(summary.profile) == ["mine"]


def test_a_policy_file_is_read_and_a_bad_one_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2\n', encoding="utf-8")
    assert read_policy(path, ["mihr"]).rules[0].bad == 0.2
    path.write_bytes(b'name = "\xe9"')
    for bad in (path, tmp_path / "nothing.toml", tmp_path):
        with pytest.raises(SettingsError, match="the policy cannot be read"):
            read_policy(bad, ["mihr"])


def test_a_caller_can_watch_the_rows_go_by(tmp_path: Path) -> None:
    seen: list[int] = []
    path = write_lines(tmp_path / "v.jsonl", many())
    measure_files([path], settings=MeasureSettings(resamples=100), progress=seen.append)
    assert sum(seen) == len(many())
