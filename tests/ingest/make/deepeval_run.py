"""Run DeepEval with a scripted model and keep its test run: `python deepeval_run.py FOLDER`, deepeval installed."""

import json
import os
import sys
from pathlib import Path

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO", "ERROR_REPORTING": "NO"}

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import AnswerRelevancyMetric, FaithfulnessMetric, HallucinationMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase
from questions import ANSWERS, EVIDENCE, QUESTION

CLAIMS = {
    "supported": ["The Seine is 777 km long.", "The Seine flows through Paris."],
    "refuted": ["The Seine is 999 km long.", "The Seine flows through Paris."],
    "empty": [],
    "greeting": [],
    "unparsable": ["The Seine is 777 km long."],
    "broken": ["The Seine flows through Paris.", "The Seine flows through Rouen.", "Rouen is a city."],
}


class Scripted(DeepEvalBaseLLM):
    """Says what is written above; its replies for one case are no JSON, and for another are cut short."""

    def __init__(self) -> None:
        self.case = "supported"
        super().__init__("scripted")

    def load_model(self) -> "Scripted":
        return self

    def get_model_name(self) -> str:
        return "scripted"

    def generate(self, prompt: str, schema: type | None = None) -> object:
        self.is_by_context = "hallucination" in (schema.__module__ if schema else "")
        reply = self.reply(schema.__name__ if schema else "")
        return schema(**reply) if schema and not isinstance(reply, str) else reply

    async def a_generate(self, prompt: str, schema: type | None = None) -> object:
        return self.generate(prompt, schema)

    def reply(self, wanted: str) -> dict[str, object] | str:
        claims = CLAIMS[self.case]
        if wanted == "Truths":
            return {"truths": EVIDENCE.split(". ")}
        if wanted == "Claims":
            return {"claims": claims}
        if wanted == "Statements":
            return {"statements": claims}
        if wanted == "Verdicts":
            if self.case == "unparsable":
                raise ValueError("Evaluation LLM outputted an invalid JSON. Please use a better evaluation model.")
            said = [
                {"verdict": "no" if "999" in claim else "yes", "reason": "so says the evidence"} for claim in claims
            ]
            if self.is_by_context:
                said = said[:1]
            elif self.case == "broken":
                said = [said[0], {"verdict": "borderline", "reason": "the evidence does not say"}]
            return {"verdicts": said}
        return {"reason": "because"}


def main(folder: Path) -> None:
    model = Scripted()
    kept = []
    for name, answer in ANSWERS.items():
        model.case = name
        case = LLMTestCase(
            name=name, input=QUESTION, actual_output=answer, retrieval_context=[EVIDENCE], context=[EVIDENCE]
        )
        metrics = [
            FaithfulnessMetric(model=model, async_mode=False, verbose_mode=True),
            HallucinationMetric(model=model, async_mode=False, verbose_mode=True),
            AnswerRelevancyMetric(model=model, async_mode=False),
        ]
        evaluate(
            [case],
            metrics,
            async_config=AsyncConfig(run_async=False),
            cache_config=CacheConfig(write_cache=False, use_cache=False),
            display_config=DisplayConfig(
                show_indicator=False, print_results=False, results_folder=str(folder / "logs" / name)
            ),
            error_config=ErrorConfig(ignore_errors=True),
        )
        [written] = (folder / "logs" / name).rglob("test_run_*.json")
        kept.append(json.loads(written.read_text(encoding="utf-8")))
    whole = kept[0] | {"testCases": [case for run in kept for case in run["testCases"]]}
    (folder / "deepeval.json").write_text(json.dumps(whole, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
