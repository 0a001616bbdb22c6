"""Make the bundled sentences with the passages that they cite, as experts judged them, from ExpertQA.

    python benchmarks/build_cited_samples.py EXPERTQA [--out src/hallumeter/samples]

EXPERTQA holds ``rand_val.jsonl`` and ``domain_val.jsonl``. The same data gives the same bytes every time. How answers
are chosen was settled before any judge was run on them and is told in the README beside the samples.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from build_samples import SAMPLES, SKIPPED_TOPICS

Row = dict[str, str | int | list[dict[str, str]]]

FILE = "cited_sentences.jsonl"
PARTS = ("rand_val", "domain_val")
LABELS = {
    "Complete": ("SUPPORTED", None),
    "Partial": ("NOT_ENOUGH_INFO", "partly_supported"),
    "Incomplete": ("NOT_ENOUGH_INFO", "not_supported"),
}
SKIPPED_FIELDS = frozenset(
    {
        *("Healthcare / Medicine", "Psychology", "Law", "Criminology", "Military or Law Enforcement"),
        "Political Science",
    }
)
"""Fields in which a wrong answer is advice that somebody could follow, or is about crime and violence."""
SKIPPED_QUESTIONS = re.compile(r"\b(?:autis|cancer|disease|fight)", re.IGNORECASE)
"""Questions about illness or violence that were asked in another field."""
SYSTEMS = frozenset({"rr_gs_gpt4", "rr_sphere_gpt4", "post_hoc_gs_gpt4", "post_hoc_sphere_gpt4"})
"""Systems of which the data has the text of the passages; of the others it has addresses only."""
FEWEST_CLAIMS = 2
MOST_CHARACTERS = 8000
PASSAGE = re.compile(r"(?P<id>\[\d+\] \S+)\s+(?P<text>\S.*)", re.DOTALL)


class ExpertClaim(Struct):
    """A sentence of an answer, the passages that it cites, and what the expert said of them."""

    claim_string: str
    evidence: list[str]
    support: str | None

    @property
    def is_judged(self) -> bool:
        """Whether the expert compared it with a passage."""
        return self.support in LABELS and bool(self.evidence)


class ExpertAnswer(Struct):
    """What one system answered."""

    answer_string: str
    claims: list[ExpertClaim]

    @property
    def judged(self) -> list[ExpertClaim]:
        """The sentences that the expert compared with a passage."""
        return [claim for claim in self.claims if claim.is_judged]

    @property
    def passages(self) -> list[str]:
        """The passages that they cite, each once."""
        return list(dict.fromkeys(passage for claim in self.judged for passage in claim.evidence))


class ExpertQuestion(Struct):
    """One line of the data: a question of an expert and the one answer that the same expert judged."""

    question: str
    answers: dict[str, ExpertAnswer]
    metadata: dict[str, str]

    @property
    def field(self) -> str:
        """What the expert is an expert of."""
        return self.metadata["field"]


def read_questions(folder: Path) -> Iterator[tuple[str, ExpertQuestion]]:
    """The questions under the part and the line they stand on, each once."""
    seen = set()
    for part in PARTS:
        for number, line in enumerate((folder / f"{part}.jsonl").read_bytes().splitlines(), start=1):
            question = msgspec.json.decode(line, type=ExpertQuestion)
            if question.question not in seen:
                seen.add(question.question)
                yield f"{part}-{number}", question


def reason_to_skip(question: ExpertQuestion) -> str | None:
    """Why a question is not in the sample, by the first rule that says so; None for one that is."""
    [(system, answer)] = question.answers.items()
    passages = answer.passages
    texts = (question.question, answer.answer_string, *passages)
    rules = {
        "field": question.field in SKIPPED_FIELDS,
        "no passages": system not in SYSTEMS or not all(map(PASSAGE.fullmatch, passages)),
        "few claims": len(answer.judged) < FEWEST_CLAIMS,
        "long passages": sum(map(len, passages)) > MOST_CHARACTERS,
        "words": SKIPPED_QUESTIONS.search(question.question) or any(map(SKIPPED_TOPICS.search, texts)),
    }
    return next((rule for rule, holds in rules.items() if holds), None)


def cited_rows(question_id: str, question: ExpertQuestion) -> Iterator[Row]:
    """One row per sentence that the expert judged: what the expert compared, and nothing more."""
    [(system, answer)] = question.answers.items()
    for number, claim in enumerate(answer.judged, start=1):
        text = claim.claim_string.strip()
        passages = [match for passage in dict.fromkeys(claim.evidence) if (match := PASSAGE.fullmatch(passage))]
        label, reason = LABELS[str(claim.support)]
        row: Row = {"record_id": f"{question_id}.{number}", "question_id": question_id, "model": system}
        row |= {"claim_id": "s0", "text": text, "label": label, "judge": "human"}
        row |= {"reason": reason} if reason else {}
        row |= {"start": 0, "end": len(text), "field": question.field, "question": question.question}
        row["evidence"] = [{"evidence_id": match["id"], "text": match["text"].strip()} for match in passages]
        yield row | {"response": text}


def main() -> None:
    """Write the sample file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("expertqa", type=Path, help="folder with rand_val.jsonl and domain_val.jsonl")
    parser.add_argument("--out", type=Path, default=SAMPLES, help="folder to write to")
    given = parser.parse_args()
    skipped: dict[str, int] = {}
    rows: list[Row] = []
    for question_id, question in read_questions(given.expertqa):
        reason = reason_to_skip(question)
        if reason is None:
            rows += cited_rows(question_id, question)
        else:
            skipped[reason] = skipped.get(reason, 0) + 1
    content = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    (given.out / FILE).write_bytes(content)
    print(f"{FILE}: {len(rows)} rows, {len(content)} bytes; passed over: {skipped}")


if __name__ == "__main__":
    main()
