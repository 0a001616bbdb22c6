"""What all adapters share, and the assertion of promptfoo, which needs no package."""

from __future__ import annotations

import doctest
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from answer_cases import CASES, EVIDENCE, QUESTION, Case

from hallumeter.errors import MissingExtraError, RecordError, SettingsError
from hallumeter.integrations import promptfoo
from hallumeter.integrations.checked_answer import AnswerParts, Checker, PartsReader, answer_text, plain

BAD = "The tower is 999 m high. It stands in Paris."
TOOLS = {
    "deepeval": ("deepeval", "deepeval"),
    "haystack": ("haystack", "haystack"),
    "inspect_ai": ("inspect_ai", "inspect-ai"),
    "langchain": ("langchain_classic", "langchain"),
    "langfuse": ("langfuse", "langfuse"),
    "langsmith": ("langsmith", "langsmith"),
    "llama_index": ("llama_index", "llama-index"),
    "mlflow": ("mlflow", "mlflow"),
    "opentelemetry": ("opentelemetry", "otel"),
    "phoenix": ("phoenix", "phoenix"),
    "pydantic_evals": ("pydantic_evals", "pydantic-evals"),
    "ragas": ("ragas", "ragas"),
    "weave": ("weave", "weave"),
}
"""The package that an adapter imports, and the extra that installs it."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_has_a_rate_or_a_problem_and_never_both(case: Case) -> None:
    checker = Checker({"judge": case.judge, "on_refusal": case.on_refusal})  # type: ignore[typeddict-item]
    answer = checker(AnswerParts(case.response, list(case.evidence), QUESTION))
    assert (answer.unsupported_rate, answer.problem, answer.passed) == (case.rate, case.problem, case.passed)
    assert case.said in answer.explanation
    assert (answer.label == "unmeasured") == (case.passed is None)
    json.dumps(answer.metadata())


def test_claims_without_a_verdict_widen_the_bounds() -> None:
    case = next(case for case in CASES if case.name == "judge that breaks once")
    answer = Checker({"judge": case.judge})(AnswerParts(case.response, list(case.evidence)))
    assert (answer.unsupported_rate, answer.supported_rate, answer.bounds) == (1.0, 0.0, (0.5, 1.0))
    assert answer.counts == {
        **dict.fromkeys(("supported", "undecided", "without_evidence"), 0),
        "claims": 2,
        "unsupported": 1,
        "failed": 1,
    }


def test_an_explanation_stays_short_whatever_the_answer() -> None:
    words = " ".join(["word"] * 500)
    text = " ".join(f"The mast {number} is {number} m high and {words}." for number in range(100, 130))
    answer = Checker({"judge": lambda claim, evidence: {"label": "REFUTED", "note": words}})(AnswerParts(text, "x"))
    lines = answer.explanation.split("\n")
    assert len(lines) == 12
    assert lines[-1] == "... and 20 more"
    assert max(map(len, lines)) < 500


@pytest.mark.parametrize(
    "values",
    [
        {"outputs": {"answer": BAD, "contexts": list(EVIDENCE)}, "inputs": {"question": QUESTION}},
        {"outputs": BAD, "inputs": {"query": QUESTION, "documents": [{"page_content": text} for text in EVIDENCE]}},
        {
            "outputs": {"choices": [{"message": {"role": "assistant", "content": BAD}}]},
            "inputs": {"messages": [{"role": "user", "content": QUESTION}], "context": "\n".join(EVIDENCE)},
        },
    ],
)
def test_parts_are_found_under_the_usual_names(values: dict[str, object]) -> None:
    parts = PartsReader().parts(values, answer="outputs", asked=("inputs",))
    assert (parts.response, parts.question) == (BAD, QUESTION)
    assert Checker({"judge": "rules"})(parts).unsupported_rate == 0.5


def test_parts_are_found_where_the_user_says() -> None:
    values = {
        "outputs": {"said": {"it": BAD}},
        "inputs": {"docs": [{"body": text} for text in EVIDENCE], "q": QUESTION},
    }
    paths = {"response": "outputs.said.it", "evidence": "inputs.docs[].body", "question": "inputs.q"}
    assert PartsReader(paths).parts(values, answer="outputs", asked=()) == AnswerParts(BAD, list(EVIDENCE), QUESTION)
    with pytest.raises(SettingsError, match="there is no field proof; expected response, evidence, question"):
        PartsReader({"proof": "inputs.docs"})


def test_an_answer_that_cannot_be_found_is_an_error_and_none_is_empty() -> None:
    assert answer_text(None) == ""
    with pytest.raises(RecordError, match="outputs: found no answer in dict with tokens; say where it is with map"):
        PartsReader().parts({"outputs": {"tokens": 3}}, answer="outputs", asked=())


def test_models_of_pydantic_are_read_as_dictionaries() -> None:
    model = SimpleNamespace(model_dump=lambda: {"answer": BAD})
    assert plain([model, (1, 2)]) == [{"answer": BAD}, [1, 2]]


def test_settings_are_looked_at_when_a_checker_is_made() -> None:
    with pytest.raises(
        SettingsError, match="there is no option jugde; expected judge, preset, threshold or on_refusal"
    ):
        Checker({"jugde": "rules"})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(SettingsError, match="on_refusal"):
        Checker({"on_refusal": "ignore"})  # type: ignore[typeddict-item]


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_that_is_missing_is_named_with_the_command_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = TOOLS[name]
    for module in [each for each in sys.modules if each == package or each.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"hallumeter.integrations.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'hallumeter\[{extra}\]'"):
        importlib.import_module(f"hallumeter.integrations.{name}")


def test_promptfoo_loads_a_file_and_gets_plain_values(tmp_path: Path) -> None:
    """As its wrapper does: the file is imported by its path, called with two values from JSON, and answers in JSON."""
    script = tmp_path / "supported.py"
    script.write_text("from hallumeter.integrations.promptfoo import get_assert\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("supported", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    config = {"judge": "rules", "map": {"evidence": "vars.pages[].body"}}
    context = {"vars": {"pages": [{"body": text} for text in EVIDENCE]}, "config": config, "prompt": QUESTION}
    graded = json.loads(json.dumps(module.get_assert(*json.loads(json.dumps([BAD, context])))))
    assert (graded["pass"], graded["score"], graded["namedScores"]) == (False, 0.5, {"supported_rate": 0.5})
    assert [component["pass"] for component in graded["componentResults"]] == [False, True]
    refused = module.get_assert("I cannot answer that question.", {"vars": None})
    assert (refused["pass"], refused["score"], refused["namedScores"]) == (False, 0.0, {})


def test_the_example_of_promptfoo_is_true() -> None:
    assert doctest.testmod(promptfoo).failed == 0
