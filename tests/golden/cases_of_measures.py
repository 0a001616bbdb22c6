"""Golden cases of the commands that measure: measure, audit, transcripts, ingest, stress, integrity, demo."""

from __future__ import annotations

from given_files import FOREIGN
from golden_case import case

_INGESTED = [name for name in FOREIGN if name not in {"response.jsonl", "source_info.jsonl"}]

MEASURES = (
    case("metrics", "metrics", "metrics mihr", "metrics cer", "metrics nosuch", "metrics mhir"),
    case("version", "--version", "", "nosuch", "--nosuch"),
    case("cache", "cache", "cache --clear"),
    case(
        "measure-formats",
        *(f"measure verdicts.{suffix} --by model" for suffix in ("jsonl", "jsonl.gz", "json", "csv", "tsv", "parquet")),
        "measure < verdicts.jsonl",
        "measure - --format csv < verdicts.jsonl",
        given="verdicts",
    ),
    case(
        "measure-printed",
        *(f"measure verdicts.jsonl --by model --format {form}" for form in ("table", "json", "markdown", "csv")),
        "measure verdicts.jsonl --format json --quiet",
        given="verdicts-jsonl",
    ),
    case(
        "measure-options",
        "measure verdicts.jsonl --by model --by task --consensus dawid-skene",
        "measure verdicts.jsonl --headline a --uncertainty variance --confidence 0.9 --seed 7 --resamples 200",
        "measure verdicts.jsonl --uncertainty literal --cluster task --similarity 0.9",
        "measure verdicts.jsonl --policy policy.toml --strict",
        "measure verdicts.jsonl verdicts.jsonl",
        "measure abstentions.jsonl",
        given="verdicts-jsonl policy abstentions",
    ),
    case(
        "measure-run",
        "measure rag.jsonl panel.jsonl --headline human --by model --out run",
        "measure rag.jsonl --out run",
        "report run --format json",
        given="rag",
    ),
    case("measure-samples", "measure rag_answers.jsonl panel.jsonl", "measure biographies.jsonl", given="samples"),
    case(
        "measure-more-samples",
        "measure answers.jsonl --by popularity",
        "measure triplets.jsonl --by model",
        given="more-samples",
    ),
    case(
        "audit-rules",
        "audit rag.jsonl --judge rules --judge recorded:rag.jsonl --out run --workers 1 --by model",
        given="rag policy",
    ),
    case(
        "audit-small",
        "audit answers.jsonl --judge rules --workers 1",
        "audit answers.jsonl --judge rules --workers 1",
        "audit answers.jsonl --judge rules --workers 1 --resume",
        given="answers",
    ),
    case(
        "audit-printed",
        *(
            f"audit answers.jsonl --judge embedded:fast --workers 1 --by model --out {form} --format {form}"
            for form in ("json", "markdown", "csv")
        ),
        given="answers",
    ),
    case("audit-embedded", "audit answers.jsonl --workers 1 --out run", given="answers"),
    case("audit-workers", "audit answers.jsonl --judge embedded:fast --workers 2 --out run", given="answers"),
    case(
        "audit-shards",
        "audit answers.jsonl --judge rules --engine local --shards 2 --workers 1 --out run",
        "audit answers.jsonl --judge rules --engine local --shards 2 --workers 1 --out run",
        "audit answers.jsonl --judge rules --engine local --shards 2 --workers 1 --out run --resume --quiet",
        "export run --out lines",
        "export lines --out again",
        "export lines --to parquet --out again",
        "export nosuch --out other",
        "audit answers.jsonl --judge rules --engine hadoop --out other",
        "audit answers.jsonl --judge rules --shards 2 --workers 1 --quiet",
        "measure answers.jsonl --shards 2",
        given="answers",
        digests=False,
    ),
    case(
        "audit-formats",
        *(
            f"audit table.{suffix} --judge rules --workers 1 --out {suffix}"
            for suffix in ("jsonl.gz", "json", "csv", "tsv", "parquet")
        ),
        "audit - --judge rules --workers 1 --out stdin --quiet < table.jsonl",
        given="answers-formats",
    ),
    case(
        "audit-options",
        "audit answers.jsonl --judge rules --extractor clauses --workers 1 --out a --limit 3",
        "audit answers.jsonl --judge rules --workers 1 --out b --sample 2 --seed 3 --strict",
        "audit answers.jsonl --judge python:golden_evaluators.verdict --workers 1 --out c",
        "audit answers.jsonl --judge rules --judge embedded:fast --consensus dawid-skene --headline rules "
        "--policy policy.toml --workers 1 --out d",
        "audit sampled.jsonl --judge rules --samples rules --workers 1 --out e",
        "audit answers.jsonl --judge openai:gpt-4o-mini --price gpt-4o-mini=0.15/0.6 --dry-run",
        "audit answers.jsonl --judge anthropic:claude-3-5-haiku-latest --dry-run --extractor llm "
        "--price claude-3-5-haiku-latest=0.8/4",
        given="answers policy evaluators sampled",
    ),
    case(
        "audit-evidence",
        "audit answers.jsonl --judge rules --evidence-dir handbook --passages 2 --workers 1 --out run",
        given="answers handbook",
    ),
    case(
        "audit-models",
        "audit answers.jsonl --judge http://model.test/v1#small --judge rules --workers 1 --concurrency 1 --out a",
        "audit answers.jsonl --judge http://model.test/v1#small --out b --concurrency 1 --no-quotes "
        "--claims-per-call 1",
        "audit answers.jsonl --judge http://model.test/v1#small --out c --concurrency 1 --logprobs "
        "--price small=10/20 --no-cache",
        "audit answers.jsonl --judge http://model.test/v1#small --extractor llm --out d --concurrency 1",
        "audit answers.jsonl --judge http://model.test/v1#broken --out e --concurrency 1",
        "audit answers.jsonl --judge http://model.test/v1#paid --price paid=100000/200000 --budget 1 --out f "
        "--concurrency 1 --claims-per-call 1 --no-cache",
        "cache",
        given="answers",
        has_model=True,
    ),
    case(
        "transcripts-folders",
        "transcripts truth newspaper-ocr smollm2 smollm2-penalized --out run --workers 1",
        "report run --format json",
        given="newspapers",
    ),
    case(
        "transcripts-printed",
        *(
            f"transcripts truth newspaper-ocr smollm2 --workers 1 --format {form}"
            for form in ("json", "markdown", "csv")
        ),
        given="newspapers",
    ),
    case(
        "transcripts-options",
        "transcripts truth smollm2 --workers 1 --normalize diplomatic+caseless --rank-by invented_rate",
        "transcripts truth smollm2 --workers 1 --measures anchoring --quiet",
        "transcripts smollm2 smollm2-penalized --witness newspaper-ocr --witness-confidence 0.9 --workers 1 --out run",
        "transcripts truth/1895-13990000.txt smollm2/1895-13990000.txt",
        "transcripts truth smollm2 newspaper-ocr --workers 2 --confidence 0.9 --seed 3 --resamples 100",
        given="newspapers",
    ),
    case(
        "transcripts-tables",
        *(
            f"transcripts pairs.{suffix} --by century --workers 1 --format csv"
            for suffix in ("jsonl", "jsonl.gz", "json", "csv", "tsv", "parquet")
        ),
        "transcripts pairs.csv --columns reference=response,response=reference --workers 1",
        given="page-tables",
    ),
    case(
        "transcripts-pages",
        *(
            f"transcripts pages/{truth} pages/{read} --format csv"
            for truth, read in (
                ("french.txt", "french.hocr"),
                ("french.hocr", "french.alto.xml"),
                ("korean.hocr", "korean.alto.xml"),
                ("page-2013.page.xml", "page-2019.xml"),
                ("lorem-ipsum-scan.gt.page.xml", "lorem-ipsum-scan.ocr.tesseract.alto.xml"),
            )
        ),
        given="page-files",
    ),
    case(
        "ingest-all",
        *(f"ingest {name} --out runs/{name}" for name in _INGESTED),
        "ingest response.jsonl source_info.jsonl --by task --out runs/ragtruth",
        given="foreign",
    ),
    case(
        "ingest-printed",
        *(f"ingest ragas.csv --print {form} --out {form} --quiet" for form in ("json", "markdown", "csv")),
        "ingest promptfoo.json --format promptfoo --by provider --confidence 0.9 --seed 5 --resamples 50",
        "ingest ragas.csv --strict --out strict",
        "ingest ragas.csv --format deepeval --out other",
        "ingest ragas.csv --format nosuch --out other",
        "ingest ragas.csv deepeval.json --out other",
        given="foreign",
    ),
    case(
        "stress",
        "stress rag.jsonl --judge rules --judge embedded:fast --limit 8 --workers 1 --out run",
        "stress rag.jsonl --judge rules --limit 4 --workers 1 --format json",
        "stress answers.jsonl --judge rules --claims evidence --workers 1 --seed 2",
        "stress answers.jsonl --judge rules --claims given --workers 1",
        given="rag answers",
    ),
    case(
        "integrity",
        "integrity --judge rules --case empty_response --case number_changed --case refusal",
        "integrity --python golden_evaluators:share_of_words --case empty_response --case number_changed "
        "--case no_claims",
        "integrity --judge rules --case empty_evidence --case not_a_text --format json",
        "integrity --judge rules --case missing_response --case other_language --format markdown --quiet",
        "integrity --judge rules --case nosuch",
        "integrity --python golden_evaluators:nosuch",
        "integrity",
        given="evaluators",
    ),
    case(
        "check",
        "check --judge rules --evidence-text 'The tower is 330 m high.' 'The tower is 999 m high. It is high.'",
        "check --judge embedded --evidence-text 'The tower is 330 m high.' 'The tower is 999 m high.' --format json",
        "check --judge rules --evidence-text 'The tower is 330 m high.' 'The tower is 330 m high.'",
        "check --judge rules --evidence-text 'The tower is 330 m high.' 'I could not find that.'",
        "check --judge rules --evidence nowhere.txt 'It is high.'",
        "check 'It is high.'",
        digests=False,
    ),
    case("demo", "demo"),
)
