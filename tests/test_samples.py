"""The bundled samples are well formed, and their README tells the truth about them."""

import importlib.util
import json
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import build_cited_samples
from build_samples import SKIPPED_TOPICS
from hallumeter.records.claim import Label, Verdict

Row = dict[str, Any]

REPOSITORY = Path(__file__).parents[1]
SAMPLES = resources.files("hallumeter.samples")
CLAIM_FILES = ("biographies.jsonl", "rag_answers.jsonl", "cited_sentences.jsonl", "panel.jsonl", "triplets.jsonl")
NAMES = ("biographies.jsonl", "answers.jsonl", *CLAIM_FILES[1:])


def text_of(name: str) -> str:
    return (SAMPLES / name).read_bytes().decode("utf-8")


def rows_of(name: str) -> list[Row]:
    return [json.loads(line) for line in text_of(name).removesuffix("\n").split("\n")]


def responses_of(name: str) -> dict[tuple[str, str], str]:
    return {(row["record_id"], row["model"]): row["response"] for row in rows_of(name) if "response" in row}


def table_rows(first_cell: str) -> list[list[str]]:
    """Cells of the README's table lines that begin with this cell and hold counts."""
    lines = [line for line in text_of("README.md").splitlines() if line.startswith(f"| {first_cell} |")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[-1].replace(".", "").isdigit()]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_samples", REPOSITORY / "benchmarks" / "build_samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # msgspec looks up the annotations of a struct in its module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_one_json_object(name: str) -> None:
    text = text_of(name)
    assert text.endswith("}\n")
    assert "\r" not in text
    assert all(isinstance(row, dict) and row["record_id"] and row["model"] for row in rows_of(name))


def test_the_samples_stay_small() -> None:
    assert sum(len((SAMPLES / name).read_bytes()) for name in NAMES) <= 1_400_000


@pytest.mark.parametrize("name", NAMES)
def test_no_claim_has_two_verdicts_of_one_judge(name: str) -> None:
    keys = Counter((row["record_id"], row["model"], row.get("claim_id"), row.get("judge")) for row in rows_of(name))
    assert max(keys.values()) == 1


@pytest.mark.parametrize("name", CLAIM_FILES)
def test_a_claim_id_belongs_to_one_model_of_its_record(name: str) -> None:
    models = defaultdict(set)
    for row in rows_of(name):
        if "claim_id" in row:
            models[row["record_id"], row["claim_id"]].add(row["model"])
    assert all(len(of_claim) == 1 for of_claim in models.values())


@pytest.mark.parametrize("name", CLAIM_FILES)
def test_every_claim_row_is_a_valid_verdict(name: str) -> None:
    for row in rows_of(name):
        if "label" in row:
            fields = ("record_id", "claim_id", "judge", "unsupported_probability", "reason", "start", "end")
            given = {field: row[field] for field in fields if field in row}
            assert Verdict(label=Label(row["label"]), **given).label.value == row["label"]


@pytest.mark.parametrize("name", ["biographies.jsonl", "rag_answers.jsonl", "cited_sentences.jsonl"])
def test_a_response_stands_on_its_first_row_only(name: str) -> None:
    seen = set()
    for row in rows_of(name):
        key = (row["record_id"], row["model"])
        assert ("response" in row) == ("question" in row) == (key not in seen)
        seen.add(key)


def test_a_fact_points_to_a_whole_sentence_of_its_biography() -> None:
    responses = responses_of("biographies.jsonl")
    spans = defaultdict(set)
    for row in rows_of("biographies.jsonl"):
        response, start, end = responses[row["record_id"], row["model"]], row["start"], row["end"]
        assert response[start:end] == response[start:end].strip() != ""
        assert not response[:start][-1:].isalnum()
        assert not response[end:][:1].isalnum()
        spans[row["record_id"], row["model"]].add((start, end))
    for of_response in map(sorted, spans.values()):
        assert all(before[1] <= after[0] for before, after in pairwise(of_response))


def test_a_supported_sentence_has_its_own_offsets_and_another_those_of_its_marked_part() -> None:
    responses = responses_of("rag_answers.jsonl")
    for row in rows_of("rag_answers.jsonl"):
        marked = responses[row["record_id"], row["model"]][row["start"] : row["end"]]
        if row["label"] == "SUPPORTED":
            assert marked == row["text"]
        else:
            assert re.search(r"\w", marked)
            assert marked in row["text"]
            assert row["text"] in responses[row["record_id"], row["model"]]


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("evident_conflict", "REFUTED"),
        ("evident_baseless_info", "NOT_ENOUGH_INFO"),
        ("subtle_baseless_info", "NOT_ENOUGH_INFO"),
        (None, "SUPPORTED"),
    ],
)
def test_a_conflict_is_refuted_and_a_baseless_part_is_not(reason: str | None, label: str) -> None:
    labels = {row["label"] for row in rows_of("rag_answers.jsonl") if row.get("reason") == reason}
    assert labels == {label}


def test_a_cited_sentence_is_a_record_with_the_passages_that_it_cites() -> None:
    for row in rows_of("cited_sentences.jsonl"):
        assert row["response"] == row["text"] == row["text"].strip() != ""
        assert (row["start"], row["end"]) == (0, len(row["text"]))
        assert row["record_id"].startswith(f"{row['question_id']}.")
        names = [passage["evidence_id"] for passage in row["evidence"]]
        assert names
        assert len(set(names)) == len(names)
        for passage in row["evidence"]:
            assert re.fullmatch(r"\[\d+\] https?://\S+", passage["evidence_id"])
            assert re.search(r"\w", passage["text"])


def test_a_cited_sentence_is_supported_or_not_and_never_refuted() -> None:
    kinds = {(row["label"], row.get("reason")) for row in rows_of("cited_sentences.jsonl")}
    assert kinds == {
        ("SUPPORTED", None),
        ("NOT_ENOUGH_INFO", "partly_supported"),
        ("NOT_ENOUGH_INFO", "not_supported"),
    }


def test_the_cited_sentences_answer_at_least_60_questions_outside_medicine_law_and_crime() -> None:
    rows = rows_of("cited_sentences.jsonl")
    questions = {row["question_id"]: row["question"] for row in rows}
    assert len(set(questions.values())) == len(questions) >= 60
    assert not {row["field"] for row in rows} & build_cited_samples.SKIPPED_FIELDS
    for row in rows:
        for text in (row["question"], row["response"], *(passage["text"] for passage in row["evidence"])):
            assert not SKIPPED_TOPICS.search(text)


def expert_question(**changes: Any) -> build_cited_samples.ExpertQuestion:
    """A question whose answer has two sentences that were compared with a passage, and one that cites nothing."""
    passage = "[1] https://example.org/bridge\n\n The bridge is 90 m long."
    given = {
        "question": "How long is it?",
        "field": "Architecture",
        "system": "rr_gs_gpt4",
        "passage": passage,
    } | changes
    claims = [
        {"claim_string": " It is 90 m long [1].", "evidence": [given["passage"]], "support": "Complete"},
        {"claim_string": "Lovely!", "evidence": [], "support": "Missing"},
        {"claim_string": "It is red [1].", "evidence": [given["passage"]], "support": "Partial"},
    ]
    answer = {"answer_string": "It is 90 m long [1]. Lovely! It is red [1].", "claims": claims}
    row = {
        "question": given["question"],
        "answers": {given["system"]: answer},
        "metadata": {"field": given["field"]},
    }
    return msgspec.convert(row, build_cited_samples.ExpertQuestion)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"field": "Healthcare / Medicine"}, "field"),
        ({"system": "bing_chat"}, "no passages"),
        ({"passage": "[1] https://example.org/bridge"}, "no passages"),
        ({"passage": f"[1] https://example.org {'long ' * 2000}"}, "long passages"),
        ({"passage": "[1] https://example.org A murder on the bridge."}, "words"),
        ({"question": "Does the bridge cause cancer?"}, "words"),
    ],
)
def test_the_rules_of_choice_pass_over_a_question_for_one_reason(changes: Row, reason: str | None) -> None:
    assert build_cited_samples.reason_to_skip(expert_question(**changes)) == reason


def test_only_a_sentence_that_was_compared_with_a_passage_becomes_a_row() -> None:
    rows = list(build_cited_samples.cited_rows("q", expert_question()))
    assert [(row["record_id"], row["text"], row["label"], row.get("reason")) for row in rows] == [
        ("q.1", "It is 90 m long [1].", "SUPPORTED", None),
        ("q.2", "It is red [1].", "NOT_ENOUGH_INFO", "partly_supported"),
    ]
    assert rows[0]["evidence"] == [
        {"evidence_id": "[1] https://example.org/bridge", "text": "The bridge is 90 m long."}
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_states_the_counts(name: str) -> None:
    rows = rows_of(name)
    stated = table_rows(f"`{name}`")
    assert {cells[1] for cells in stated} == {row["judge"] for row in rows if "judge" in row} or stated[0][1] == ""
    for _, judge, *numbers in stated:
        mine = [row for row in rows if row.get("judge", judge) == judge]
        labels = Counter(row.get("label", "no claim") for row in mine)
        responses = {(row["record_id"], row["model"]) for row in mine}
        counts = [len(mine), len({row["record_id"] for row in mine}), len(responses)]
        columns = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "no claim")
        assert [int(number) for number in numbers] == counts + [labels[column] for column in columns]


@pytest.mark.parametrize("model", ["ChatGPT", "InstructGPT"])
def test_the_readme_states_the_share_of_supported_facts(model: str) -> None:
    # Plain fractions, without the package: sum of supported over facts, and the mean of that over biographies.
    tallies: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows_of("biographies.jsonl"):
        if row["model"] == model:
            tallies[row["record_id"]][0] += row["label"] == "SUPPORTED"
            tallies[row["record_id"]][1] += 1
    supported, facts = (sum(tally[column] for tally in tallies.values()) for column in (0, 1))
    mean = sum(Fraction(*tally) for tally in tallies.values()) / len(tallies)
    [[_, *stated]] = table_rows(model)
    assert stated == [str(supported), str(facts), f"{supported / facts:.4f}", f"{float(mean):.4f}"]


def test_each_topic_was_put_to_both_models_and_could_be_answered() -> None:
    rows = rows_of("answers.jsonl")
    models = defaultdict(list)
    for row in rows:
        assert row["answerable"] is True
        assert row["question"] == f"Tell me a bio of {row['record_id']}."
        models[row["record_id"]].append(row["model"])
    assert all(of_topic == ["ChatGPT", "InstructGPT"] for of_topic in models.values())
    assert [row["record_id"] for row in rows if not row["response"]] == ["Kalki Koechlin"]
    # The source leaves 26 responses of ChatGPT without annotation because they abstain; all of them apologise.
    apologies = [row["model"] for row in rows if re.match(r"I'm sorry|I apologize", row["response"])]
    assert apologies == ["ChatGPT"] * 26


def test_each_level_of_popularity_has_four_biographies_of_each_model() -> None:
    levels = Counter(row["popularity"] for row in rows_of("biographies.jsonl") if "response" in row)
    assert levels == dict.fromkeys(("very rare", "rare", "medium", "freq", "very freq"), 4 * 2)
    assert all(row["popularity"] in levels for name in NAMES[:2] for row in rows_of(name))


def test_a_response_without_a_triplet_is_kept() -> None:
    rows = rows_of("triplets.jsonl")
    models = defaultdict(set)
    for row in rows:
        models[row["record_id"]].add(row["model"])
        assert ("claim_id" in row) == ("label" in row) != ("response" in row)
    assert {len(of_question) for of_question in models.values()} == {7}


def test_each_question_of_the_triplets_has_two_clauses_that_models_share() -> None:
    models: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows_of("triplets.jsonl"):
        if "text" in row:
            models[row["record_id"]][row["text"].casefold()].add(row["model"])
    for clauses in models.values():
        assert sum(len(stated_by) > 1 for stated_by in clauses.values()) >= 2


def test_the_panel_is_what_its_judges_say_of_the_bundled_sentences(script: ModuleType) -> None:
    rebuilt = [msgspec.json.encode(row).decode() for row in script.panel_rows(rows_of("rag_answers.jsonl"))]
    assert rebuilt == text_of("panel.jsonl").splitlines()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # silk, made, strong, protein, fibers: three of the five are missing
        (
            "Silk is made of strong protein fibers.",
            {"label": "NOT_ENOUGH_INFO", "unsupported_probability": 0.6},
        ),
        # silk, protein, soft, warm: exactly half is there, and half is enough
        ("Silk, a protein, is soft and warm.", {"label": "SUPPORTED", "unsupported_probability": 0.5}),
        ("It is a warm silk.", {"label": "UNDECIDED"}),
    ],
)
def test_word_overlap_counts_the_content_words_that_are_missing(
    script: ModuleType, sentence: str, expected: Row
) -> None:
    assert script.word_overlap_verdict(sentence, "Silk is a protein fiber.") == expected


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("2. The canal opened in 1869.", "SUPPORTED"),
        ("The canal opened in 1870.", "REFUTED"),
        ("The canal in Panama opened in 1870.", "REFUTED"),
        ("It cost 1,500 pounds in Panama.", "NOT_ENOUGH_INFO"),
        ("Nobody knows: Perhaps it is long.", "UNDECIDED"),
    ],
)
def test_numbers_and_names_looks_for_them_in_the_evidence(script: ModuleType, sentence: str, label: str) -> None:
    evidence = "The Suez Canal opened in 1869 and cost 1500 pounds."
    assert script.numbers_and_names_verdict(sentence, evidence) == {"label": label}


def test_sentences_end_at_stops_and_line_breaks_but_not_at_list_numbers(script: ModuleType) -> None:
    text = 'Sure! Do this:\n\n1. Ask Dr. Lee, e.g. today.  She said "No." Twice\n***\nAdd 2.5 ml.'
    pieces = [text[start:end] for start, end in script.sentence_spans(text)]
    assert pieces == [
        "Sure!",
        "Do this:",
        "1. Ask Dr. Lee, e.g. today.",
        'She said "No."',
        "Twice",
        "Add 2.5 ml.",
    ]


def test_a_marked_part_is_clipped_to_its_sentence_and_a_conflict_goes_first(script: ModuleType) -> None:
    text = "It is red. It is big."
    baseless, conflict = (
        script.Mark(0, 13, "Evident Baseless Info"),
        script.Mark(17, 20, "Subtle Conflict"),
    )
    assert script.marked_part(text, (0, 10), [baseless, conflict]) == script.Mark(0, 10, baseless.label_type)
    assert script.marked_part(text, (11, 21), [baseless, conflict]) == conflict
    # A mark that reaches into the next sentence by the blank between them marks nothing there.
    assert script.marked_part(text, (11, 21), [script.Mark(0, 11, "Evident Conflict")]) is None


@pytest.mark.parametrize("name", NAMES)
def test_the_notice_and_the_readme_name_every_sample(name: str) -> None:
    assert name in (REPOSITORY / "NOTICE").read_text(encoding="utf-8")
    assert f"`{name}`" in text_of("README.md")


def test_no_sample_goes_untested() -> None:
    files = sorted(path.name for path in SAMPLES.iterdir() if path.name.endswith(".jsonl"))
    assert files == sorted(NAMES)
