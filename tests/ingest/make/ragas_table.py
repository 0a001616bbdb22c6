"""Run Ragas with a scripted model and keep its table: `python ragas_table.py FOLDER`, with ragas installed."""

import json
import os
import sys
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from langchain_core.outputs import Generation, LLMResult
from questions import ANSWERS, EVIDENCE, QUESTION
from ragas import EvaluationDataset, evaluate
from ragas.dataset_schema import SingleTurnSample
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import ExactMatch, Faithfulness
from ragas.run_config import RunConfig

STATEMENTS = {
    "777 km long. It": ["The Seine is 777 km long.", "The Seine flows through Paris."],
    "999 km long": ["The Seine is 999 km long.", "The Seine flows through Paris."],
    "How can I help": [],
    "Rouen": ["The Seine flows through Paris.", "The Seine flows through Rouen."],
}


class Scripted(BaseRagasLLM):
    """Finds statements and judges them as written above; one of its replies is no JSON, and one never comes."""

    def reply(self, prompt: str) -> str:
        asked = prompt.rpartition("Now perform the same with the following input")[2]
        if "judge the faithfulness" in prompt:
            statements = json.loads(asked[asked.index("{") : asked.rindex("}") + 1])["statements"]
            if any("Rouen" in statement for statement in statements):
                raise TimeoutError("no reply in 60 s")
            said = [{"statement": text, "reason": "so", "verdict": int("999" not in text)} for text in statements]
            return json.dumps({"statements": said})
        for words, statements in STATEMENTS.items():
            if words in asked:
                return json.dumps({"statements": statements})
        return "I would rather not say."

    def generate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None) -> LLMResult:
        return LLMResult(generations=[[Generation(text=self.reply(prompt.to_string()))]])

    async def agenerate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None) -> LLMResult:
        return self.generate_text(prompt)

    def is_finished(self, response: LLMResult) -> bool:
        return True


def main(folder: Path) -> None:
    samples = [
        SingleTurnSample(
            user_input=QUESTION, response=answer, retrieved_contexts=[EVIDENCE], reference=ANSWERS["supported"]
        )
        for answer in ANSWERS.values()
    ]
    result = evaluate(
        EvaluationDataset(samples=samples),
        metrics=[Faithfulness(), ExactMatch()],
        llm=Scripted(),
        run_config=RunConfig(max_retries=1, max_workers=1),
        raise_exceptions=False,
        show_progress=False,
    )
    table = result.to_pandas()
    table.to_csv(folder / "ragas.csv", index=False)
    table.to_json(folder / "ragas.jsonl", orient="records", lines=True, force_ascii=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
