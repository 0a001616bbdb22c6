"""Small valid files for every reader, and the commands that read them."""

from __future__ import annotations

import base64
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner
from msgspec import Struct
from pyarrow import parquet

from hallumeter.cli.main import main

HERE = Path(__file__).parent
SAMPLES = HERE.parent.parent / "src" / "hallumeter" / "samples"
RESULTS = HERE.parent / "ingest" / "results"
PAGES = HERE.parent / "transcripts" / "pages" / "files"
QUICK = ("--resamples", "100")
OUT = "out"
"""What a command writes; removed after each case."""


class Target(Struct, frozen=True):
    """A reader: how its files are made, which of them are changed, and the commands to run then."""

    make: Callable[[Path], object]
    files: tuple[str, ...]
    """Below the folder; one of them is changed in each case."""
    commands: tuple[tuple[str, ...], ...]
    may_be_one: bool = False
    """Whether these commands end with 1 as a verdict."""


VERDICTS = [
    {
        "record_id": "r1",
        "claim_id": "c1",
        "label": "REFUTED",
        "judge": "a",
        "model": "m",
        "text": "Two cats.",
        "start": 0,
    },
    {"record_id": "r1", "claim_id": "c2", "label": "SUPPORTED", "judge": "a", "unsupported_probability": 0.25},
    {"record_id": "r2", "claim_id": "c1", "label": "NOT_ENOUGH_INFO", "judge": "b", "confidence": 0.5, "weight": 2},
]
ANSWERS = [
    {"id": "a", "question": "How high?", "answer": "It is 330 m high.", "evidence": ["The tower is 330 m high."]},
    {
        "id": "b",
        "answer": "Built in 1890. It is red.",
        "evidence": [{"id": "e", "text": "Built in 1889."}],
        "model": "m",
    },
]
PAGE_TEXT = ("Le roi de France est mort", "à Paris le 4 avril 1422")


ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG."""


def _rows(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _run(*words: str) -> None:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output


def _verdicts(folder: Path) -> None:
    _rows(folder / "v.jsonl", VERDICTS)
    (folder / "v.json").write_text(json.dumps({"rows": VERDICTS}), encoding="utf-8")
    (folder / "v.csv").write_text(
        'record_id,claim_id,label,confidence,probabilities\nr1,c1,REFUTED,0.5,\nr2,c1,SUPPORTED,,"[0.5, 0.5]"\n',
        encoding="utf-8",
    )
    columns = {name: [row.get(name) for row in VERDICTS] for name in ("record_id", "claim_id", "label", "confidence")}
    parquet.write_table(pa.table(columns), folder / "v.parquet")
    _rows(folder / "a.jsonl", ANSWERS)


def _measured_run(folder: Path) -> None:
    _verdicts(folder)
    _run("measure", str(folder / "v.jsonl"), "--out", str(folder / "run"), "--quiet", *QUICK)
    shutil.copytree(folder / "run", folder / "other")
    (folder / "policy.toml").write_text(
        'name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2\n'
        '[[bounds]]\nmetric = "mihr"\nat_most = 0.9\n',
        encoding="utf-8",
    )
    _run("gate", str(folder / "run"), "--init", "--policy", str(folder / "made.toml"))
    (folder / "profile.toml").write_text(
        'name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2\n', encoding="utf-8"
    )
    (folder / "labels.csv").write_text(
        "record_id,claim_id,label\nr1,c1,unsupported\nr1,c2,supported\n", encoding="utf-8"
    )


def _pages(folder: Path) -> None:
    (folder / "truth").mkdir()
    (folder / "truth" / "p1.txt").write_text("\n".join(PAGE_TEXT), encoding="utf-8")
    for name, content in _page_files().items():
        place = folder / name / "p1"
        place.parent.mkdir()
        place.with_suffix(".html" if name == "hocr" else ".xml").write_text(content, encoding="utf-8")
    with zipfile.ZipFile(folder / "pages.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p1.xml", _page_files()["page"])
    (folder / "images").mkdir()
    (folder / "images" / "p1.png").write_bytes(base64.b64decode(ONE_PIXEL))
    canvas = {"@id": "https://a.example/p1", "label": "p1", "images": [{"resource": {"@id": "images/p1.png"}}]}
    (folder / "manifest.json").write_text(json.dumps({"sequences": [{"canvases": [canvas]}]}), encoding="utf-8")
    (folder / "mets.xml").write_text(
        '<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><mets:fileSec>'
        '<mets:fileGrp USE="OCR"><mets:file ID="f1" MIMETYPE="application/vnd.prima.page+xml">'
        '<mets:FLocat xlink:href="page/p1.xml"/></mets:file></mets:fileGrp></mets:fileSec>'
        '<mets:structMap TYPE="PHYSICAL"><mets:div TYPE="page" ID="p1"><mets:fptr FILEID="f1"/></mets:div>'
        "</mets:structMap></mets:mets>",
        encoding="utf-8",
    )
    _rows(folder / "pages.jsonl", [{"page": "p1", "truth": PAGE_TEXT[0], "ocr": PAGE_TEXT[0], "engine": "e"}])


def _page_files() -> dict[str, str]:
    first, second = PAGE_TEXT
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    prima = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
    lines = "".join(
        f'<TextLine id="l{place}"><Coords points="0,0 1,{place}"/><TextEquiv index="0" conf="0.9"><Unicode>{line}'
        "</Unicode></TextEquiv></TextLine>"
        for place, line in enumerate(PAGE_TEXT)
    )
    order = (
        '<ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="0" regionRef="r1"/></OrderedGroup></ReadingOrder>'
    )
    strings = "".join(f'<String ID="s{word}" CONTENT="{word}" WC="0.5" HPOS="1"/><SP/>' for word in second.split())
    return {
        "page": f'{head}<PcGts xmlns="{prima}"><Page imageFilename="p1.jpg" imageWidth="9">{order}'
        f'<TextRegion id="r1" type="paragraph">{lines}</TextRegion></Page></PcGts>',
        "alto": f'{head}<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="9"><PrintSpace>'
        f"<TextBlock><TextLine>{strings}<HYP/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>",
        "hocr": "<html><body><div class='ocr_page' title='bbox 0 0 9 9'><p class='ocr_par'><span class='ocr_line'>"
        f"<span class='ocrx_word' title='x_wconf 90'>{first}</span></span></p></div></body></html>",
        "tei": f'{head}<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><pb n="1"/><p>{first}'
        f'<lb break="no"/>{second}'
        "<choice><abbr>Mr</abbr><expan>Mister</expan></choice></p></body></text></TEI>",
    }


def _patients(folder: Path) -> None:
    (folder / "fhir").mkdir()
    resources = [
        {"resourceType": "Patient", "id": "p", "gender": "female", "birthDate": "1960-02-03"},
        {
            "resourceType": "Condition",
            "id": "c",
            "subject": {"reference": "Patient/p"},
            "clinicalStatus": {"coding": [{"code": "active"}]},
            "code": {"coding": [{"system": "http://snomed.info/sct", "code": "59621000"}], "text": "Hypertension"},
            "onsetDateTime": "2010-05-06T10:00:00Z",
        },
        {
            "resourceType": "Observation",
            "status": "final",
            "subject": {"reference": "Patient/p"},
            "code": {"coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
            "valueQuantity": {"value": 6.5, "unit": "%"},
            "effectiveDateTime": "2020-01-01",
        },
    ]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": each} for each in resources]}
    (folder / "fhir" / "p.json").write_text(json.dumps(bundle), encoding="utf-8")
    _rows(folder / "fhir" / "p.ndjson", resources)


def _dialogues(folder: Path) -> None:
    slots = {
        "age": 51,
        "sex": "female",
        "primary_condition": "Hypertension",
        "key_meds": ["Lisinopril"],
        "key_labs": {"hba1c": "6.5%"},
    }
    turns = [{"turn_id": 1, "question": "I am 51 and have hypertension."}, {"turn_id": 2, "question": "What first?"}]
    _rows(folder / "scripts.jsonl", [{"patient_id": "p", "language": "en", "slots": slots, "turns": turns}])
    event = {"run_id": "r", "mode": "llm", "patient_id": "p", "turn_id": 1, "question": {"text": "I am 51."}}
    event |= {"answer": "At 51, walk 20 minutes a day and take lisinopril.", "slots_truth": slots}
    _rows(folder / "events.jsonl", [{**event, "schema_version": "events_record.v1"}])
    (folder / "dialogue.yaml").write_text(
        "run_id: pilot\nmultiturn_scripts: {path: scripts.jsonl}\nseed: 7\n"
        "systems:\n  - mode: llm\n    model: openai:some\n"
        "  - {mode: agent, name: second}\nbudget: 2.5\n",
        encoding="utf-8",
    )
    _run("dialogue", "config", "--init", str(folder / "rules"))


def _reviews(folder: Path) -> None:
    rows = [{"uid": "1", "text": "The food was great but the service was slow."}]
    _rows(folder / "reviews.jsonl", rows)
    (folder / "aspects.yaml").write_text(
        "run_id: pilot\ndata:\n  input: reviews.jsonl\n  max_sentences: 2\n"
        "demo: {k: 0, seed: 7}\nexperiment: {repeat: {mode: seed, seeds: [1]}}\ntimeout: 10\n",
        encoding="utf-8",
    )
    _run("aspects", "run", "--config", str(folder / "aspects.yaml"), "--out", str(folder / "runs"), "--quiet")
    [outputs] = folder.glob("runs/**/outputs.jsonl")
    shutil.copy(outputs, folder / "outputs.jsonl")
    _run("aspects", "score", str(folder / "outputs.jsonl"), "--out", str(folder / "scorecards.jsonl"), "--quiet")


def _results(folder: Path) -> None:
    for path in RESULTS.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)


def _ingested(*names: str) -> Target:
    words = tuple(("ingest", name, "--out", OUT, "--quiet", *QUICK) for name in names)
    return Target(_results, names, words)


def _transcribed(name: str, *files: str, more: tuple[str, ...] = ()) -> Target:
    return Target(_pages, files, (("transcripts", "truth", name, "--workers", "1", "--quiet", *more, *QUICK),))


RUN_FILES = ("manifest.json", "summary.json", "records.jsonl", "claims.jsonl", "verdicts.jsonl", "measurements.jsonl")
TARGETS = {
    "jsonl": Target(
        _verdicts, ("v.jsonl",), (("measure", "v.jsonl", *QUICK), ("measure", "v.jsonl", "--out", OUT, *QUICK))
    ),
    "json": Target(_verdicts, ("v.json",), (("measure", "v.json", *QUICK),)),
    "csv": Target(_verdicts, ("v.csv",), (("measure", "v.csv", "--format", "csv", *QUICK),)),
    "parquet": Target(_verdicts, ("v.parquet",), (("measure", "v.parquet", *QUICK),)),
    "answers": Target(
        _verdicts,
        ("a.jsonl",),
        (("audit", "a.jsonl", "--judge", "rules", "--workers", "1", "--no-cache", "--out", OUT, "--quiet", *QUICK),),
    ),
    "gate policy": Target(
        _measured_run, ("policy.toml", "made.toml"), (("gate", "run", "--policy", "{file}"),), may_be_one=True
    ),
    "profile": Target(_measured_run, ("profile.toml",), (("measure", "v.jsonl", "--policy", "profile.toml", *QUICK),)),
    "labels": Target(_measured_run, ("labels.csv",), (("correct", "run", "--labels", "labels.csv", *QUICK),)),
    "run folder": Target(
        _measured_run,
        tuple(f"run/{name}" for name in RUN_FILES),
        (
            ("report", "run", "--format", "json", "--no-verify"),
            ("report", "run", "--out", "out.html", "--no-verify"),
            ("gate", "run", "--policy", "policy.toml", "--no-verify"),
            ("gate", "run", "--policy", "policy.toml"),
            ("verify", "run"),
            ("compare", "run", "other", "--no-verify", *QUICK),
        ),
        may_be_one=True,
    ),
    "report page": Target(_measured_run, ("run/report.html",), (("verify", "run/report.html"),), may_be_one=True),
    "page xml": _transcribed("page", "page/p1.xml"),
    "alto": _transcribed("alto", "alto/p1.xml"),
    "hocr": _transcribed("hocr", "hocr/p1.html"),
    "tei": _transcribed("tei", "tei/p1.xml"),
    "plain text": _transcribed("page", "truth/p1.txt"),
    "zip": _transcribed("pages.zip", "pages.zip"),
    "mets": _transcribed("mets.xml#OCR", "mets.xml"),
    "iiif": _transcribed("page", "manifest.json", more=("--images", "manifest.json", "--out", OUT)),
    "page table": Target(
        _pages, ("pages.jsonl",), (("transcripts", "pages.jsonl", "--workers", "1", "--quiet", *QUICK),)
    ),
    "fhir": Target(
        _patients,
        ("fhir/p.json", "fhir/p.ndjson"),
        (("dialogue", "script", "--fhir-dir", "fhir", "--output-path", "out.jsonl", "--quiet"),),
    ),
    "events": Target(
        _dialogues, ("events.jsonl",), (("dialogue", "measure", "events.jsonl", "--workers", "1", "--quiet", *QUICK),)
    ),
    "scripts": Target(
        _dialogues, ("scripts.jsonl",), (("dialogue", "run", "--config", "dialogue.yaml", "--dry-run", "--out", OUT),)
    ),
    "dialogue experiment": Target(
        _dialogues, ("dialogue.yaml",), (("dialogue", "run", "--config", "dialogue.yaml", "--dry-run", "--out", OUT),)
    ),
    "dialogue rules": Target(
        _dialogues,
        ("rules/safety_rules.yaml", "rules/required_slots_by_turn.yaml"),
        (("dialogue", "lint", "rules"),),
        may_be_one=True,
    ),
    "aspect experiment": Target(
        _reviews, ("aspects.yaml",), (("aspects", "run", "--config", "aspects.yaml", "--dry-run", "--out", OUT),)
    ),
    "reviews": Target(
        _reviews, ("reviews.jsonl",), (("aspects", "run", "--config", "aspects.yaml", "--dry-run", "--out", OUT),)
    ),
    "aspect outputs": Target(
        _reviews,
        ("outputs.jsonl",),
        (("aspects", "score", "outputs.jsonl", "--workers", "1", "--out", "out.jsonl", "--quiet"),),
    ),
    "scorecards": Target(
        _reviews,
        ("scorecards.jsonl",),
        (("aspects", "aggregate", "scorecards.jsonl", "--workers", "1", "--quiet", *QUICK),),
    ),
    **{
        f"ingest {name}": _ingested(name)
        for name in (
            "ragas.csv",
            "ragas.jsonl",
            "deepeval.json",
            "promptfoo.json",
            "inspect.json",
            "inspect.eval",
            "trulens.json",
            "helm.jsonl",
            "lettucedetect.json",
            "refchecker.json",
        )
    },
}
