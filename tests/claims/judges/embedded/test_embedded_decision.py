"""Signals, kinds of text, calibration and thresholds: how a tier comes to its probability, and which it refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedded_tasks import TIERS, model_in, task_of
from hypothesis import given
from hypothesis import strategies as st
from test_embedded_model_files import WHAT_TO_DO, refusal

from hallumeter.claims.judges.embedded import model_files
from hallumeter.claims.judges.embedded.features import measured_of
from hallumeter.claims.judges.embedded.judge import (
    EmbeddedJudge,
    Signals,
    Traits,
    can_be_weighed,
    probabilities_of,
    reasons_of,
    signals_of,
    traits_of,
)
from hallumeter.claims.judges.embedded.model_files import (
    CLAIM_SIGNALS,
    FINDING_REASONS,
    KINDS,
    TEXT_SIGNALS,
    Curve,
    Tier,
    shipped_model,
)
from hallumeter.claims.judges.embedded.network import ReadClaim
from hallumeter.claims.judges.rules.turns import is_dialogue
from hallumeter.claims.settings import PRESETS

PLAIN = Traits(is_structured=False, is_dialogue=False, has_question=False, is_single=False, is_short_evidence=False)
LONG = "The tower of the old town stands on a hill by the river. " * 8
CALL = "Agent: Good morning.\nClient: Who is it?\nAgent: Sarah from the bank. I call about your plan.\nClient: No."


def claim(vote: float) -> ReadClaim:
    return ReadClaim(np.zeros(1, np.float32), np.zeros(1, np.float32), vote)


def signals(
    logits: list[float], votes: list[float] | None = None, *, traits: Traits = PLAIN, found: tuple[str, ...] = ()
) -> Signals:
    """Signals of some claims; the rules found the same in each."""
    reads = None if votes is None else list(map(claim, votes))
    return signals_of(np.asarray(logits), reads, traits=traits, reasons=[frozenset(found)] * len(logits))


def tier(**given: Any) -> Tier:
    presets = dict.fromkeys(PRESETS, 0.5)
    return Tier(**{"constant": 0.0, "weights": {"trees": 1.0}, "presets": presets, "calibration": "x", **given})


def test_beside_a_claim_stands_the_mean_of_the_others() -> None:
    said = signals([1.0, 2.0, 6.0])
    assert said["trees"].tolist() == [1.0, 2.0, 6.0]
    assert said["trees_beside"].tolist() == [4.0, 3.5, 1.5]


def test_a_claim_alone_has_itself_beside_it() -> None:
    said = signals([1.5], [-2.0])
    assert said["trees_beside"].tolist() == [1.5]
    assert said["vote_beside"].tolist() == [-2.0]


def test_the_network_votes_on_a_claim_and_on_those_beside_it() -> None:
    said = signals([0.0, 0.0], [0.5, -1.0])
    assert said["vote"].tolist() == [0.5, -1.0]
    assert said["vote_beside"].tolist() == [-1.0, 0.5]


@pytest.mark.parametrize("name", TEXT_SIGNALS)
def test_what_is_known_of_the_text_is_the_same_for_each_claim(name: str) -> None:
    has_it = Traits(**{each: each == name for each in TEXT_SIGNALS})
    said = signals([1.0, 2.0], traits=has_it)
    assert {each: said[each].tolist() for each in TEXT_SIGNALS} == {
        each: [float(each == name)] * 2 for each in TEXT_SIGNALS
    }


def test_a_finding_is_a_signal_of_the_claim_in_which_the_rules_found_it() -> None:
    reasons = [frozenset({"date_mismatch", "uncertain"}), frozenset[str]()]
    said = signals_of(np.zeros(2), None, traits=PLAIN, reasons=reasons)
    assert {name: values.tolist() for name, values in said.items() if values.any()} == {
        "contradiction": [1.0, 0.0],
        "finding:date_mismatch": [1.0, 0.0],
        "finding:uncertain": [1.0, 0.0],
    }


@pytest.mark.parametrize(("name", "votes"), [("fast", None), ("full", [0.0])])
def test_a_tier_may_weigh_every_signal_that_is_computed_and_no_other(name: str, votes: list[float] | None) -> None:
    findings = {f"finding:{reason}" for reason in FINDING_REASONS}
    assert set(signals([0.0], votes)) == {*CLAIM_SIGNALS[name], *TEXT_SIGNALS, *findings}


def test_the_reasons_of_a_claim_are_those_of_its_findings() -> None:
    task = task_of(("The bridge is 535 metres long.",), "The bridge is 335 metres long.")
    (measured,) = measured_of(task.response, [task.response.response or ""])
    assert reasons_of(measured) == {"number_mismatch"} <= set(FINDING_REASONS)


def traits(texts: tuple[str, ...], *evidence: str, question: str | None = None) -> Traits:
    response = task_of(texts, *evidence, question=question).response
    return traits_of(response, [each for each in measured_of(response, texts) if can_be_weighed(each)])


ONE, TWO = ("The tower is high.",), ("The tower is high.", "It is old and red.")


@pytest.mark.parametrize(
    ("texts", "evidence", "question", "kind"),
    [
        (TWO, LONG, None, "summary"),
        (ONE, LONG, None, "single"),
        ((*ONE, "…"), LONG, None, "single"),
        (ONE, LONG, "How high is it?", "qa"),
        (TWO, LONG, "?", "summary"),
        (TWO, CALL, None, "dialogue"),
        (ONE, CALL, "What did the client say?", "dialogue"),
        (TWO, '{"tower": {"height": "330 m"}}', "How high is it?", "record"),
        (ONE, '{"tower": {"height": "330 m"}}', None, "record"),
    ],
)
def test_the_kind_of_a_text_follows_from_its_input(
    texts: tuple[str, ...], evidence: str, question: str | None, kind: str
) -> None:
    assert traits(texts, evidence, question=question).kind == kind
    assert kind in KINDS


def test_evidence_of_a_sentence_or_two_is_short() -> None:
    assert traits(TWO, "The tower is high.").is_short_evidence
    assert traits(TWO, "The tower is high.", "It is red.").is_short_evidence
    assert not traits(TWO, LONG).is_short_evidence
    assert not traits(TWO, *["The tower is high and it is red."] * 10).is_short_evidence


CONVERSATIONS = {
    "English": CALL,
    "French": "Médecin : Bonjour.\nPatient : J’ai mal.\nMédecin : Où ?\nPatient : Au dos.",
    "Korean": "상담원: 안녕하세요.\n고객: 환불하고 싶어요.\n상담원: 네, 도와드릴게요.",
    "wide colons": "상담원：안녕하세요.\n고객：환불하고 싶어요.\n상담원：네.",
    "numbered speakers": "#Person1#: Hi.\n#Person2#: Hello.\n#Person1#: Bye.",
    "titles": "DR. SMITH, HOST: Welcome.\n\nMS. LEE: Thank you.\n\nDR. SMITH, HOST: Let us begin.",
    "bold": "**Ann:** Hi.\n**Ben**: Hello.\n**Ann:** Bye.",
    "turns of two lines": "Ann: Hi.\nI am here.\nBen: Hello.\nSo am I.\nAnn: Bye.\nBen: Bye.",
}
NO_CONVERSATIONS = {
    "prose": LONG,
    "fields": "Name: Ann\nAge: 67\nCity: Lyon\nPhone: none",
    "one speaker": "Note: hot.\nNote: wet.\nNote: cold.",
    "two turns": "Ann: Hi.\nBen: Hello.",
    "prose with a list": f"{LONG}\n{LONG}\n{LONG}\n{LONG}\nAnn: one\nBen: two\nAnn: three",
    "times": "9:00 open\n10:00 closed\n9:00 open",
    "nothing": "",
}


@pytest.mark.parametrize("text", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_lines_that_begin_with_speakers_are_a_conversation(text: str) -> None:
    assert is_dialogue(text)


@pytest.mark.parametrize("text", NO_CONVERSATIONS.values(), ids=NO_CONVERSATIONS.keys())
def test_other_lines_with_colons_are_none(text: str) -> None:
    assert not is_dialogue(text)


def probabilities(decision: Tier, logits: list[float], *, kind: str = "qa") -> list[float]:
    return probabilities_of(decision, signals(logits), kind=kind)


def logistic(logit: float) -> float:
    """With as many decimals as a probability has."""
    return round(1.0 / (1.0 + math.exp(-logit)), 9)


def test_the_probability_is_the_logistic_of_the_weighted_signals() -> None:
    weights = {"trees": 2.0, "trees_beside": -1.0, "finding:uncertain": 0.5}
    said = probabilities_of(tier(constant=0.25, weights=weights), signals([1.0, 3.0], found=("uncertain",)), kind="qa")
    assert said == pytest.approx([logistic(0.25 + 2.0 - 3.0 + 0.5), logistic(0.25 + 6.0 - 1.0 + 0.5)])


def test_a_tier_that_weighs_nothing_gives_each_claim_its_constant() -> None:
    assert probabilities(tier(constant=1.0, weights={}), [3.0, 4.0]) == [logistic(1.0)] * 2


def test_no_probability_is_0_or_1() -> None:
    assert all(0.0 < each < 1.0 for each in probabilities(tier(), [-1e9, 1e9]))


def test_each_kind_of_text_is_calibrated_by_its_own_map_or_the_usual_one() -> None:
    curves = {"qa": Curve((0.0,), (1.0,)), "default": Curve((0.0,), (-1.0,))}
    decision = tier(curves=curves)
    assert probabilities(decision, [0.0, 2.0]) == [logistic(1.0), logistic(3.0)]
    assert probabilities(decision, [0.0, 2.0], kind="record") == [logistic(-1.0), logistic(1.0)]
    assert probabilities(tier(), [0.5], kind="record") == [logistic(0.5)]


def test_a_map_is_linear_between_its_points_and_has_a_slope_of_one_beyond() -> None:
    curve = Curve((-1.0, 1.0, 2.0), (-3.0, 1.0, 1.0))
    assert curve(np.array([-4.0, -1.0, 0.0, 1.0, 1.5, 2.0, 5.0])).tolist() == [-6.0, -3.0, -1.0, 1.0, 1.0, 1.0, 4.0]


POINTS = st.lists(st.integers(-20, 20), max_size=6)


@given(POINTS, POINTS, st.lists(st.integers(-90, 90), min_size=2, max_size=9))
def test_calibration_keeps_the_order_of_claims(x: list[int], y: list[int], logits: list[int]) -> None:
    places, values = sorted(set(x)), sorted(y)
    count = min(len(places), len(values))
    curve = Curve(tuple(map(float, places[:count])), tuple(map(float, values[:count])))
    assert curve.is_monotone
    said = curve(np.sort(np.asarray(logits) / 3.0))
    assert (np.diff(said) >= -1e-9).all()


@pytest.mark.parametrize("name", TIERS)
def test_what_ships_has_a_threshold_of_each_preset_for_each_kind_of_text(name: str) -> None:
    for kind in KINDS:
        precise, balanced, sensitive = (EmbeddedJudge(name, preset).threshold(kind) for preset in PRESETS)
        assert precise >= balanced >= sensitive > 0.0


def test_the_fast_tier_that_ships_weighs_nothing_of_the_network() -> None:
    assert not {"vote", "vote_beside"} & set(shipped_model().tiers["fast"].weights)


WRONG: dict[str, dict[str, Any]] = {
    "an unknown signal": {"weights": {"mood": 1.0}},
    "an unknown finding": {"weights": {"finding:mood": 1.0}},
    "a weight that is no number": {"weights": {"trees": "1"}},
    "a map that does not rise": {"curves": {"qa": {"x": [1.0, 1.0], "y": [0.0, 1.0]}}},
    "a map whose values fall": {"curves": {"default": {"x": [0.0, 1.0], "y": [1.0, 0.0]}}},
    "a map without values": {"curves": {"qa": {"x": [0.0, 1.0], "y": [1.0]}}},
    "a map of an unknown kind": {"curves": {"poem": {"x": [], "y": []}}},
    "alternatives of an unknown kind": {"alternatives": {"poem": [[0.0, 1.0]]}},
    "an alternative that turns the order around": {"alternatives": {"qa": [[0.0, -1.0]]}},
    "an alternative of three numbers": {"alternatives": {"qa": [[0.0, 1.0, 2.0]]}},
    "a missing preset": {"presets": {"precise": 0.5, "balanced": 0.5}},
    "an unknown preset": {"presets": {**dict.fromkeys(PRESETS, 0.5), "wild": 0.5}},
    "a threshold above 1": {"presets": {**dict.fromkeys(PRESETS, 0.5), "precise": 1.5}},
    "a threshold below 0": {"presets": {**dict.fromkeys(PRESETS, 0.5), "precise": {"default": 0.5, "qa": -0.5}}},
    "a threshold of an unknown kind": {"presets": {**dict.fromkeys(PRESETS, 0.5), "precise": {"default": 0.5, "x": 1}}},
    "thresholds without a usual one": {"presets": {**dict.fromkeys(PRESETS, 0.5), "precise": {"qa": 0.5}}},
    "a stretch that is no probability": {"stretch": 2.0},
    "no name of its calibration": {"calibration": ""},
    "a field that nobody knows": {"floor": 0.35},
}


@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG.keys())
def test_a_tier_that_cannot_decide_is_a_damaged_model(name: str, given: dict[str, Any], linked: Path) -> None:
    change(linked, name, given)
    assert refusal(name) == f"the file model.json of the embedded judge is damaged; {WHAT_TO_DO}"


def test_the_fast_tier_cannot_weigh_the_network(linked: Path) -> None:
    change(linked, "fast", {"weights": {"vote": 1.0}})
    assert "model.json" in refusal("fast")


def test_a_tier_with_all_that_it_may_have_decides(linked: Path) -> None:
    given = {
        "weights": {"trees": 1.0, "is_dialogue": 0.5, "finding:field_mismatch": 1.0},
        "curves": {"qa": {"x": [-1.0, 1.0], "y": [-2.0, 2.0]}},
        "alternatives": {"default": [[0.1, 1.1]]},
        "presets": {**dict.fromkeys(PRESETS, 0.5), "precise": {"default": 0.6, "qa": 0.7}},
    }
    change(linked, "fast", given)
    assert EmbeddedJudge("fast", "precise").threshold("qa") == 0.7


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Path]:
    """A folder with a list of its own and the files that ship."""
    for path in model_files.FOLDER.iterdir():
        (tmp_path / path.name).symlink_to(path)
    listed = (tmp_path / model_files.LIST).read_bytes()
    (tmp_path / model_files.LIST).unlink()
    (tmp_path / model_files.LIST).write_bytes(listed)
    with model_in(tmp_path):
        yield tmp_path


def change(folder: Path, name: str, given: dict[str, Any]) -> None:
    listed = json.loads((folder / "model.json").read_bytes())
    listed["tiers"][name] |= given
    (folder / "model.json").write_text(json.dumps(listed), encoding="utf-8")
