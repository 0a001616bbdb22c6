"""Make the bundled samples from the public data sets they are taken from.

    python benchmarks/build_samples.py --data DIR [--out src/hallumeter/samples]

DIR holds ``factscore/{ChatGPT,InstructGPT}.jsonl``, ``refchecker/zero_context/nq_*_answers.json`` and
``ragtruth/merged/train_{responses,sources}.jsonl``. The same data gives the same bytes every time. What each
file is, where it comes from and under which licence is told in the README beside the samples.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Row = dict[str, str | int | float | bool | list[str] | None]

SAMPLES = Path(__file__).parents[1] / "src" / "hallumeter" / "samples"

BIOGRAPHY_LABELS = {
    "S": ("SUPPORTED", None),
    "NS": ("NOT_ENOUGH_INFO", "not_supported"),
    "IR": ("NOT_ENOUGH_INFO", "irrelevant"),
}
BIOGRAPHY_MODELS = ("ChatGPT", "InstructGPT")
# A made-up sentence about a crime or a scandal of a real person is not something to print in a package.
SKIPPED_TOPICS = re.compile(
    r"\b(?:abus|arrest|assassin|assault|controvers|convict|corrupt|crimin|drug|executed|fraud|jail|kill|massacre"
    r"|murder|porn|prison|rape|scandal|sexual|suicid|terror)",
    re.IGNORECASE,
)

TRIPLET_LABELS = {"Entailment": "SUPPORTED", "Neutral": "NOT_ENOUGH_INFO", "Contradiction": "REFUTED"}
TRIPLET_QUESTIONS = 20
SHARED_CLAUSES = 2

RAG_MODELS = 6
RAG_STEP = 4
OVERLAP_THRESHOLD = 0.5
FEWEST_CONTENT_WORDS = 3

SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9])")
NOT_AN_END = re.compile(r"(?:^\W*\d+|\b(?:Mr|Mrs|Ms|Dr|St|vs|approx|e\.g|i\.e|(?:[A-Z]\.)+[A-Z]))\.$")
WORD = re.compile(r"[^\W_]+")
NUMBER = re.compile(r"(?<!\w)\d+(?:[.,]\d+)*")
LIST_MARKER = re.compile(r"^\W*\d+[.)]\s")
STARTS_A_SENTENCE = re.compile(r"(?:^\W*(?:\d+\W+)?|[:\"“*•(]\s*)$")
STOP_WORDS = frozenset(
    WORD.findall(
        """
        about above after again against all also an and any are as at be because been before being
        below between both but by can could did do does doing don down during each few for from
        further had has have having he her here hers him his how if in into is it its itself just ll
        may me might more most must my no nor not of off on once only or other our out over own re
        same shall she should so some such than that the their them then there these they this those
        through to too under until up ve very was we were what when where which while who whom why
        will with would you your
        """
    )
)


class Fact(Struct):
    """An atomic fact of a biography with the annotators' label."""

    text: str
    label: str


class Sentence(Struct):
    """An annotated sentence of a biography."""

    text: str
    facts: list[Fact] | None = field(name="human-atomic-facts")


class Biography(Struct):
    """One line of a FActScore file."""

    input: str
    output: str
    topic: str
    cat: tuple[str, str]
    annotations: list[Sentence] | None

    @property
    def question(self) -> str:
        """The prompt without its ``Question:`` tag."""
        return self.input.removeprefix("Question: ")

    @property
    def popularity(self) -> str:
        """How often the person is met with, from ``very rare`` to ``very freq``."""
        return self.cat[0]

    @property
    def has_facts(self) -> bool:
        """Whether the annotators labelled at least one atomic fact."""
        return any(sentence.facts for sentence in self.annotations or ())


class Mark(Struct):
    """A span of a RAGTruth answer that the annotators marked."""

    start: int
    end: int
    label_type: str


class RagAnswer(Struct):
    """One line of the RAGTruth answers."""

    source_id: str
    model: str
    response: str
    quality: str | None
    labels: list[Mark]


class RagSource(Struct):
    """One line of the RAGTruth sources; a source of a question has ``question`` and ``passages``."""

    source_id: str
    task_type: str
    source_info: dict[str, str] | str


class Triplet(Struct):
    """A claim triplet of RefChecker with its human label."""

    triplet: tuple[str, str, str]
    human_label: str

    @property
    def clause(self) -> str:
        """Subject, predicate and object as one readable clause."""
        return " ".join(part.strip() for part in self.triplet)


class OpenAnswer(Struct):
    """One answer of a RefChecker file."""

    id: str
    response: str
    triplets: list[Triplet] = field(name="claude2_response_kg")


def read_biographies(folder: Path) -> dict[str, dict[str, Biography]]:
    """Biographies by topic and model; topics in the order of the first model's file."""
    topics: dict[str, dict[str, Biography]] = defaultdict(dict)
    for model in BIOGRAPHY_MODELS:
        for line in (folder / f"{model}.jsonl").read_bytes().splitlines():
            biography = msgspec.json.decode(line, type=Biography)
            topics[biography.topic][model] = biography
    return topics


def biography_topics(topics: dict[str, dict[str, Biography]]) -> list[str]:
    """The first topic of each popularity and region that both models answered and that is not skipped."""
    first: dict[tuple[str, str], str] = {}
    for topic, answers in topics.items():
        suits = all(answer.has_facts and not SKIPPED_TOPICS.search(answer.output) for answer in answers.values())
        if suits:
            first.setdefault(answers[BIOGRAPHY_MODELS[0]].cat, topic)
    return list(first.values())


def biography_rows(topic: str, answers: dict[str, Biography]) -> Iterator[Row]:
    """One row per atomic fact; a response's first row carries the response and what was asked."""
    number = 0
    for model, answer in answers.items():
        once: Row = {"question": answer.question, "response": answer.output}
        for sentence in answer.annotations or ():
            start = answer.output.find(sentence.text)
            span: Row = {"start": None, "end": None}
            if start >= 0:
                span = {"start": start, "end": start + len(sentence.text)}
            for fact in sentence.facts or ():
                label, reason = BIOGRAPHY_LABELS[fact.label]
                row: Row = {"record_id": topic, "model": model, "claim_id": f"f{number}", "text": fact.text}
                row |= {"label": label, "judge": "human", "popularity": answer.popularity}
                yield row | ({"reason": reason} if reason else {}) | span | once
                number, once = number + 1, {}


def answer_rows(topics: dict[str, dict[str, Biography]], chosen: Iterable[str]) -> Iterator[Row]:
    """Both models' responses on the chosen topics and on every topic that a model did not answer."""
    wanted = set(chosen)
    for topic, answers in topics.items():
        if topic in wanted or any(answer.annotations is None for answer in answers.values()):
            for model, answer in answers.items():
                row: Row = {"record_id": topic, "model": model, "question": answer.question}
                yield row | {"response": answer.output, "answerable": True, "popularity": answer.popularity}


def read_rag(folder: Path) -> list[tuple[RagSource, list[RagAnswer]]]:
    """Every fourth question that all six models answered, none of them cut off or wrongly refusing."""
    answers: dict[str, list[RagAnswer]] = defaultdict(list)
    for line in (folder / "train_responses.jsonl").read_bytes().splitlines():
        answer = msgspec.json.decode(line, type=RagAnswer)
        answers[answer.source_id].append(answer)
    complete = []
    for line in (folder / "train_sources.jsonl").read_bytes().splitlines():
        source = msgspec.json.decode(line, type=RagSource)
        group = sorted(answers[source.source_id], key=lambda answer: answer.model)
        is_sound = all(answer.quality in {None, "good"} for answer in group)
        if source.task_type == "QA" and len(group) == RAG_MODELS and is_sound:
            complete.append((source, group))
    return complete[::RAG_STEP]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences; a line break always ends one, a list number or an abbreviation never does."""
    spans = []
    for line in re.finditer(r"[^\n]+", text):
        ends = [line.start() + end.end() for end in SENTENCE_END.finditer(line.group())]
        start = line.start()
        for end in [*ends, line.end()]:
            piece = text[start:end]
            if end < line.end() and NOT_AN_END.search(piece):
                continue
            if WORD.search(piece):
                indent = len(piece) - len(piece.lstrip())
                spans.append((start + indent, start + indent + len(piece.strip())))
            start = end
    return spans


def marked_part(text: str, span: tuple[int, int], marks: Iterable[Mark]) -> Mark | None:
    """The sentence's first marked conflict, else its first marked baseless part, clipped to the sentence."""
    start, end = span
    inside = []
    for mark in marks:
        clipped = Mark(max(start, mark.start), min(end, mark.end), mark.label_type)
        if clipped.start < clipped.end and WORD.search(text[clipped.start : clipped.end]):
            inside.append(clipped)
    return min(inside, key=lambda mark: ("Conflict" not in mark.label_type, mark.start), default=None)


def rag_rows(source: RagSource, answers: Iterable[RagAnswer]) -> Iterator[Row]:
    """One row per sentence; a response's first row carries the question, the passages and the response."""
    if isinstance(source.source_info, str):
        raise TypeError(f"source {source.source_id}: expected a question with passages, found one text")
    passages = source.source_info["passages"].strip().split("\n\n")
    number = 0
    for answer in answers:
        once: Row = {
            "question": source.source_info["question"],
            "evidence": passages,
            "response": answer.response,
        }
        for start, end in sentence_spans(answer.response):
            row: Row = {"record_id": source.source_id, "model": answer.model, "claim_id": f"s{number}"}
            row["text"] = answer.response[start:end]
            mark = marked_part(answer.response, (start, end), answer.labels)
            if mark:
                label = "REFUTED" if "Conflict" in mark.label_type else "NOT_ENOUGH_INFO"
                row |= {"label": label, "judge": "human", "reason": mark.label_type.lower().replace(" ", "_")}
                row |= {"start": mark.start, "end": mark.end}
            else:
                row |= {"label": "SUPPORTED", "judge": "human", "start": start, "end": end}
            yield row | once
            number, once = number + 1, {}


def word_overlap_verdict(sentence: str, evidence: str) -> Row:
    """Compare the share of the sentence's content words that the evidence has with a fixed threshold."""
    words = {word for word in WORD.findall(sentence.lower()) if len(word) > 1} - STOP_WORDS
    if len(words) < FEWEST_CONTENT_WORDS:
        return {"label": "UNDECIDED"}
    missing = len(words - set(WORD.findall(evidence.lower())))
    is_supported = (len(words) - missing) / len(words) >= OVERLAP_THRESHOLD
    label = "SUPPORTED" if is_supported else "NOT_ENOUGH_INFO"
    return {"label": label, "unsupported_probability": missing / len(words)}


def numbers_and_names_verdict(sentence: str, evidence: str) -> Row:
    """Look for each number and each capitalised word of a sentence, its first word aside, in the evidence."""
    known_numbers = {number.replace(",", "") for number in NUMBER.findall(evidence)}
    known_words = set(WORD.findall(evidence.lower()))
    numbers = {number.replace(",", "") for number in NUMBER.findall(LIST_MARKER.sub("", sentence))}
    names = {
        word.group().lower()
        for word in WORD.finditer(sentence)
        if word.group()[0].isupper() and word.group() != "I" and not STARTS_A_SENTENCE.search(sentence[: word.start()])
    }
    if numbers - known_numbers:
        return {"label": "REFUTED"}
    if names - known_words:
        return {"label": "NOT_ENOUGH_INFO"}
    return {"label": "SUPPORTED" if numbers or names else "UNDECIDED"}


def panel_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """For each sentence the verdicts of the two lexical judges; the annotators' stand in the answers' own file."""
    evidence = ""
    for row in rows:
        if isinstance(passages := row.get("evidence"), list):
            evidence = "\n\n".join(passages)
        claim: Row = {key: row[key] for key in ("record_id", "model", "claim_id")}
        text = str(row["text"])
        yield claim | {"judge": "word-overlap"} | word_overlap_verdict(text, evidence)
        yield claim | {"judge": "numbers-and-names"} | numbers_and_names_verdict(text, evidence)


def read_triplets(folder: Path) -> dict[str, dict[str, OpenAnswer]]:
    """RefChecker's answers by question and model; questions in file order, models by name."""
    questions: dict[str, dict[str, OpenAnswer]] = defaultdict(dict)
    for path in sorted(folder.glob("nq_*_answers.json")):
        model = path.name.removeprefix("nq_").removesuffix("_answers.json")
        for answer in msgspec.json.decode(path.read_bytes(), type=list[OpenAnswer]):
            questions[answer.id][model] = answer
    return questions


def has_shared_clauses(answers: dict[str, OpenAnswer]) -> bool:
    """Whether at least two clauses are each stated by two models or more, letter case aside."""
    models: dict[str, set[str]] = defaultdict(set)
    for model, answer in answers.items():
        for triplet in answer.triplets:
            models[triplet.clause.lower()].add(model)
    return sum(len(stated_by) > 1 for stated_by in models.values()) >= SHARED_CLAUSES


def triplet_rows(question: str, answers: dict[str, OpenAnswer]) -> Iterator[Row]:
    """One row per triplet; a response without one keeps a row of its own, with its text."""
    number = 0
    for model, answer in answers.items():
        response: Row = {"record_id": question, "model": model}
        if not answer.triplets:
            yield response | {"response": answer.response}
        for triplet in answer.triplets:
            label = TRIPLET_LABELS[triplet.human_label]
            claim: Row = {"claim_id": f"t{number}", "text": triplet.clause, "label": label, "judge": "human"}
            yield response | claim
            number += 1


def samples_from(data: Path) -> dict[str, list[Row]]:
    """The rows of every sample file, by file name."""
    topics = read_biographies(data / "factscore")
    chosen = biography_topics(topics)
    questions = read_triplets(data / "refchecker" / "zero_context")
    shared = [question for question, answers in questions.items() if has_shared_clauses(answers)]
    rag = [row for source, answers in read_rag(data / "ragtruth" / "merged") for row in rag_rows(source, answers)]
    return {
        "biographies.jsonl": [row for topic in chosen for row in biography_rows(topic, topics[topic])],
        "answers.jsonl": list(answer_rows(topics, chosen)),
        "rag_answers.jsonl": rag,
        "panel.jsonl": list(panel_rows(rag)),
        "triplets.jsonl": [
            row for question in shared[:TRIPLET_QUESTIONS] for row in triplet_rows(question, questions[question])
        ],
    }


def main() -> None:
    """Write the sample files."""
    parser = argparse.ArgumentParser(description="Make the bundled samples from the public data.")
    parser.add_argument("--data", type=Path, required=True, help="folder with factscore, refchecker and ragtruth")
    parser.add_argument("--out", type=Path, default=SAMPLES, help="folder to write to")
    arguments = parser.parse_args()
    for folder in ("factscore", "refchecker", "ragtruth"):
        if not (arguments.data / folder).is_dir():
            parser.error(f"{arguments.data} has no folder {folder}; see the top of this script for what it holds")
    for name, rows in samples_from(arguments.data).items():
        content = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        (arguments.out / name).write_bytes(content)
        print(f"{name}: {len(rows)} rows, {len(content)} bytes")


if __name__ == "__main__":
    main()
