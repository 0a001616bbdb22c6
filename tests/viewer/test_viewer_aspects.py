"""Sentences of aspect agents from the server: the way of each, and the sentences behind a number of steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from viewer_client import serving

from hallumeter.aspects.report.presentation import traced_sentences
from hallumeter.aspects.report.tracing import trace_of
from hallumeter.run.run_folder import RunFolder
from hallumeter.viewer.index.queries import TraceQuery, does_meet

QUERIES = ({"did": "introduced", "step": "ate"}, {"did": "introduced", "step": "atsa", "error": "polarity"})


def test_a_sentence_comes_with_its_way_through_the_agents(finished_demo: Path) -> None:
    with serving(finished_demo / "reviews-english") as asker:
        block = asker.get(f"{asker.only_run()}records/0").json
    steps = [step[0] for step in block["records"][0]["a"]["s"]]
    assert len(steps) > 3


@pytest.mark.parametrize("query", QUERIES, ids=json.dumps)
def test_numbers_of_steps_lead_to_the_sentences_that_were_counted(finished_demo: Path, query: dict[str, str]) -> None:
    run = finished_demo / "reviews-english"
    folder = RunFolder(run)
    findings = {response.record_id: own for response, own in folder.findings()}
    wanted = {
        traced.record_id
        for traced in traced_sentences(run)
        if does_meet(trace_of(traced, findings[traced.record_id]), TraceQuery(**query))
    }
    with serving(run) as asker:
        found = asker.get(
            f"{asker.only_run()}records", query={"behind": {"trace": query}}, order="worst", count=100
        ).json
    assert {entry["id"] for entry in found["entries"]} == wanted
    assert found["matching"] == len(wanted) > 0
