"""Inputs of golden cases: small pieces of the bundled samples, and generated files of every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import hallumeter

TESTS = Path(__file__).parents[1]
PACKAGE = Path(str(hallumeter.__file__)).parent
Row = Mapping[str, Any]

PAGES = ("1895-13990000", "1898-14155000", "1904-14656000")
FOREIGN = (
    *("deepeval.json", "helm.jsonl", "helm_predictions.json", "inspect.eval", "inspect.json", "lettucedetect.json"),
    *("lettucedetect_predictions.jsonl", "promptfoo.json", "promptfoo.jsonl", "ragas.csv", "ragas.jsonl"),
    *("refchecker.json", "refchecker_benchmark.json", "response.jsonl", "source_info.jsonl", "trulens.json"),
    "trulens_older.jsonl",
)
PAGE_FILES = (
    *("french.hocr", "french.alto.xml", "french.txt", "korean.hocr", "korean.alto.xml", "page-2013.page.xml"),
    *("page-2019.xml", "lorem-ipsum-scan.gt.page.xml", "lorem-ipsum-scan.ocr.tesseract.alto.xml"),
)

VERDICTS: list[Row] = [
    {"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED", "judge": "a", "model": "m1", "task": "qa", "p": 0.1},
    {"record_id": "r1", "claim_id": "c1", "label": "REFUTED", "judge": "b", "model": "m1", "task": "qa", "p": 0.9},
    {"record_id": "r1", "claim_id": "c2", "label": "REFUTED", "judge": "a", "model": "m1", "task": "qa", "p": 0.8},
    {"record_id": "r1", "claim_id": "c2", "label": "REFUTED", "judge": "b", "model": "m1", "task": "qa", "p": 0.7},
    {"record_id": "r2", "claim_id": "c1", "label": "SUPPORTED", "judge": "a", "model": "m2", "task": "sum", "p": 0.2},
    {"record_id": "r2", "claim_id": "c1", "label": "SUPPORTED", "judge": "b", "model": "m2", "task": "sum", "p": 0.3},
    {
        "record_id": "r3",
        "claim_id": "c1",
        "label": "NOT_ENOUGH_INFO",
        "judge": "a",
        "model": "m2",
        "task": "qa",
        "p": 0.6,
    },
    {"record_id": "r3", "claim_id": "c1", "label": "UNDECIDED", "judge": "b", "model": "m2", "task": "qa", "p": 0.5},
]
TOWER = "The tower is 330 m high and stands in Paris. It was opened in 1889. It is not open on Mondays."
TOUR = "La tour fut ouverte en 1889. Elle mesure 330 m."
ANSWERS: list[Row] = [
    {
        "id": f"t{number}",
        "question": question,
        "response": response,
        "evidence": evidence,
        "model": "m1" if number < 3 else "m2",
    }
    for number, question, response, evidence in (
        (1, "How high?", "The tower is 330 m high. It was opened in 1901.", TOWER),
        (2, "Where?", "It stands in Paris.", [TOWER, "Paris is in France."]),
        (3, "When?", "La tour fut ouverte en 1889. Elle mesure 400 m.", TOUR),
        (
            4,
            "얼마나 높아?",
            "탑의 높이는 330m입니다. 1901년에 열었습니다.",
            "탑의 높이는 330m이고 1889년에 열었습니다.",
        ),
        (5, "Open?", "I do not know.", {"open": {"monday": False}, "height_m": 330}),
    )
]
SAMPLED: list[Row] = [
    {
        "id": f"s{number}",
        "response": "It opened in 1889.",
        "evidence": "It opened in 1889.",
        "samples": ["It opened in 1889.", f"The opening was in {1900 + number}."],
        "token_logprobs": [-0.1, -0.2, -1.4],
    }
    for number in range(3)
]
ABSTENTIONS: list[Row] = [
    {"record_id": "q1", "response": "I do not know.", "answerable": False, "model": "m1"},
    {"record_id": "q2", "response": "It is 330 m high.", "answerable": False, "model": "m1"},
    {"record_id": "q3", "response": "It is 330 m high.", "answerable": True, "model": "m2"},
    {"record_id": "q4", "response": "Je ne sais pas.", "answerable": True, "model": "m2"},
]
POLICY = """name = "release"
max_unmeasured = 0.05

[[bounds]]
metric = "mihr"
at_most = 0.25
looks_at = "interval"

[[bounds]]
metric = "mihr"
at_most = 0.4
each = ["model"]

[[bounds]]
metric = "factscore"
at_least = 0.1
"""
EVALUATORS = '''"""Evaluators, judges, agents and responders of a user's own."""


def share_of_words(response, evidence, question=None):
    words = response.split()
    return sum(word in " ".join(evidence) for word in words) / len(words) if words else 1.0


def verdict(claim, evidence):
    return 0.9 if "1901" in claim else 0.1


def reply(messages, patient):
    return f"You asked in {len(messages)} messages. You are {patient['language']} and take aspirin."


def first_word(task):
    word = task.text.split()[0]
    return {"aspects": [{"term": word, "span": {"start": 0, "end": len(word)}, "confidence": 0.5}]}
'''
DIALOGUES = """seed: 0
systems:
  - {mode: llm, model: offline}
  - {mode: agent, model: offline}
retrieval: words
multiturn_scripts:
  path: scripts.jsonl
"""
OTHER_DIALOGUES = """run_id: others
retrieval: words
systems:
  - {name: own, mode: llm, python: "golden_evaluators:reply"}
  - {name: model, mode: agent, model: "http://model.test/v1#small"}
  - {name: broken, mode: llm, model: "http://model.test/v1#broken"}
multiturn_scripts:
  path: scripts.jsonl
max_patients: 1
max_turns: 2
concurrency: 1
"""
ASPECTS = """run_id: two-seeds
model: offline
data:
  input: reviews.jsonl
seeds: [0, 1]
pipeline:
  aux_hf_enabled: true
  aux_hf_checkpoint: lexicon
"""
OTHER_ASPECTS = """run_id: others
model: http://model.test/v1#small
agents: {ate: "python:golden_evaluators:first_word"}
data: {input: reviews.csv, max_sentences: 2}
concurrency: 1
"""


def sample(name: str) -> Path:
    """A file or folder of the bundled samples, wherever the package keeps them."""
    return next(PACKAGE.rglob("rag_answers.jsonl")).parent / name


def file_of_tests(name: str) -> Path:
    """A file that other tests read, wherever it lies."""
    return next(path for path in sorted(TESTS.rglob(name)) if Path(__file__).parent not in path.parents)


def lines(name: str, count: int) -> bytes:
    """The first lines of a sample."""
    return b"".join(sample(name).read_bytes().splitlines(keepends=True)[:count])


def jsonl(rows: Iterable[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows: list[Row], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer.writerow(names)
    for row in rows:
        values = [row.get(name, "") for name in names]
        writer.writerow([v if isinstance(v, str | int | float) else json.dumps(v, ensure_ascii=False) for v in values])
    return text.getvalue().encode()


def parquet(rows: list[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def all_formats(name: str, rows: list[Row]) -> dict[str, bytes]:
    return {
        f"{name}.jsonl": jsonl(rows),
        f"{name}.jsonl.gz": gzip.compress(jsonl(rows), mtime=0),
        f"{name}.json": json.dumps(rows, ensure_ascii=False).encode(),
        f"{name}.csv": table(rows),
        f"{name}.tsv": table(rows, "\t"),
        f"{name}.parquet": parquet(rows),
    }


def _texts_only(rows: list[Row]) -> list[Row]:
    """Rows that a typed table can hold."""
    return [{**row, "evidence": TOWER} for row in rows]


def _newspapers() -> dict[str, bytes]:
    engines = ("truth", "newspaper-ocr", "smollm2", "smollm2-penalized")
    found = {f"{engine}/{page}.txt": sample(f"newspapers/{engine}/{page}.txt") for engine in engines for page in PAGES}
    return {name: path.read_bytes()[:900] for name, path in found.items()}


def _page_rows() -> list[Row]:
    files = _newspapers()
    return [
        {
            "page": page,
            "engine": engine,
            "century": page[:2],
            "reference": files[f"truth/{page}.txt"].decode(errors="replace"),
            "response": files[f"{engine}/{page}.txt"].decode(errors="replace"),
        }
        for page in PAGES
        for engine in ("newspaper-ocr", "smollm2")
    ]


def _patients() -> dict[str, bytes]:
    return {f"fhir/{path.name}": path.read_bytes() for path in sorted(sample("patients").glob("*.json"))[:3]}


def _patient_lines() -> dict[str, bytes]:
    bundle = json.loads(sorted(sample("patients").glob("Patria*.json"))[0].read_bytes())
    return {"bulk/all.ndjson": jsonl(entry["resource"] for entry in bundle["entry"])}


def _reviews() -> dict[str, bytes]:
    raw = lines("reviews/mams_en.jsonl", 3) + lines("reviews/reviews_ko.jsonl", 3)
    rows = [json.loads(line) for line in raw.splitlines()]
    gold = jsonl({"uid": row["text_id"], "gold_tuples": row["gold_tuples"]} for row in rows)
    plain: list[Row] = [{"id": row["text_id"], "text": row["text"], "language": row["language"]} for row in rows]
    return {
        "reviews.jsonl": raw,
        "gold.jsonl": gold,
        "reviews.csv": table(plain),
        "reviews.parquet": parquet(plain),
        "reviews.txt": "".join(f"{row['text']}\n" for row in rows).encode(),
        "plain.yaml": b"run_id: plain\ndata: {input: reviews.txt}\n",
        "table.yaml": b"run_id: table\ndata: {input: reviews.parquet}\neval: {gold: gold.jsonl}\nprofile: paper_main\n",
    }


def _broken() -> dict[str, bytes]:
    good = jsonl(VERDICTS[:2])
    return {
        "empty.jsonl": b"",
        "empty.csv": b"",
        "broken.jsonl": good + b'{"record_id": "r9"\n[1, 2]\n{"record_id": "r4"}\n\xff\xfe\n',
        "broken.csv": b"record_id,claim_id,label\nr1,c1\nr2,c2,MAYBE,5\n",
        "broken.json": b'{"a": [',
        "broken.parquet": b"PAR1 no PAR1",
        "broken.xml": b"<alto><Layout>",
        "words.txt": b"a text and no table\n",
        "broken.toml": b"name = \n",
        "misspelt.toml": b'name = "p"\n[[bounds]]\nmetric = "mirh"\nat_most = 0.5\n',
        "broken.yaml": b"seed: [\n",
        "misspelt.yaml": b"sede: 0\nsystems: 5\n",
        "folder/note.txt": b"nothing of interest\n",
    }


_MAKERS: dict[str, Callable[[], dict[str, bytes]]] = {
    "verdicts": lambda: all_formats("verdicts", VERDICTS),
    "verdicts-jsonl": lambda: {"verdicts.jsonl": jsonl(VERDICTS)},
    "abstentions": lambda: {"abstentions.jsonl": jsonl(ABSTENTIONS)},
    "answers": lambda: {"answers.jsonl": jsonl(ANSWERS)},
    "answers-formats": lambda: all_formats("table", _texts_only(ANSWERS)),
    "sampled": lambda: {"sampled.jsonl": jsonl(SAMPLED)},
    "rag": lambda: {"rag.jsonl": lines("rag_answers.jsonl", 40), "panel.jsonl": lines("panel.jsonl", 80)},
    "samples": lambda: {
        name: sample(name).read_bytes() for name in ("rag_answers.jsonl", "panel.jsonl", "biographies.jsonl")
    },
    "more-samples": lambda: {name: sample(name).read_bytes() for name in ("answers.jsonl", "triplets.jsonl")},
    "policy": lambda: {"policy.toml": POLICY.encode()},
    "evaluators": lambda: {"golden_evaluators.py": EVALUATORS.encode()},
    "handbook": lambda: {
        "handbook/tower.txt": TOWER.encode(),
        "handbook/paris.md": b"# Paris\n\nParis is in France.\n",
    },
    "newspapers": _newspapers,
    "page-tables": lambda: all_formats("pairs", _page_rows()),
    "page-files": lambda: {f"pages/{name}": file_of_tests(name).read_bytes() for name in PAGE_FILES},
    "patients": _patients,
    "bulk": _patient_lines,
    "dialogues": lambda: {"experiment.yaml": DIALOGUES.encode(), "others.yaml": OTHER_DIALOGUES.encode()},
    "reviews": _reviews,
    "aspects": lambda: {"experiment.yaml": ASPECTS.encode(), "others.yaml": OTHER_ASPECTS.encode()},
    "foreign": lambda: {name: file_of_tests(name).read_bytes() for name in FOREIGN},
    "broken": _broken,
    "keys": lambda: {"keys": b"s\nr\nn\ne\n?\n \nu\ns\nx\nr\ns\ns\nq\n"},
    "wrong-rules": lambda: {
        "rules/required_slots_by_turn.yaml": b"turns:\n  1: {slots: [agee, sex]}\n",
        "rules/safety_rules.yaml": b"flags: {a: {slot: bp_systolic, above: x}}\nrules: [{id: R1, when: nosuch}]\n",
    },
}


def write_given(folder: Path, names: Iterable[str]) -> None:
    """Write inputs into the folder of a case."""
    for name in names:
        for place, raw in _MAKERS[name]().items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
