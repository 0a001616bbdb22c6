"""Single claims against passages: WiCE, Factcheck-GPT, BEGIN."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from training.examples import Example, Span

from .lines import json_lines, table_rows


def read_wice(data: Path) -> Iterator[Example]:
    """Sentences of Wikipedia against the pages that they cite; partly supported ones with their words marked."""
    for name in ("train", "dev"):
        for row in json_lines(data / "wice" / f"non_supported_tokens_{name}.jsonl"):
            spans = _marked(row["claim"], row["claim_tokens"], row["non_supported_spans"])
            yield _wice(row["claim"], row["evidence"], spans=spans, is_unsupported=True)
    for row in json_lines(data / "wice" / "entailment_retrieval_claim_dev.jsonl"):
        if row["label"] != "partially_supported":  # those are in the marked part
            yield _wice(row["claim"], row["evidence"], spans=(), is_unsupported=row["label"] == "not_supported")


def _wice(claim: str, evidence: list[str], *, spans: tuple[Span, ...], is_unsupported: bool) -> Example:
    lines = [line for line in evidence if not line.startswith("(meta data) PUBLISHED")]
    return Example(
        data_set="wice",
        source=_digest("\n".join(lines)),
        task="claim",
        evidence=("\n".join(lines),),
        text=claim,
        is_unsupported=is_unsupported,
        spans=spans,
        has_spans=bool(spans) or not is_unsupported,
        is_one_claim=True,
    )


def _marked(claim: str, tokens: list[str], flags: list[bool]) -> tuple[Span, ...]:
    spans: list[Span] = []
    place = 0
    is_open = False
    for token, flag in zip(tokens, flags, strict=True):
        start = claim.find(token, place)
        if start < 0:
            return ()
        place = start + len(token)
        if flag and is_open:
            spans[-1] = Span(spans[-1].start, place, is_conflict=False)
        elif flag:
            spans.append(Span(start, place, is_conflict=False))
        is_open = flag
    return tuple(spans)


def read_factcheck(data: Path) -> Iterator[Example]:
    """Claims and snippets of web pages; one in three of the snippets on another thing is kept."""
    unsupported = {"completely-support": False, "partially-support": True, "refute": True, "irrelevant": True}
    for row in json_lines(data / "factcheck_gpt" / "subtask3_claim_evidence_stance.jsonl"):
        stance = row["stance"]
        if stance not in unsupported or (stance == "irrelevant" and int(_digest(row["evidence"]), 16) % 3):
            continue
        yield Example(
            data_set="factcheck_gpt",
            source=_digest(row["claim"]),
            task="claim",
            evidence=(row["evidence"],),
            text=row["claim"],
            is_unsupported=unsupported[stance],
            has_spans=not unsupported[stance],
            is_one_claim=True,
        )


def read_begin(data: Path) -> Iterator[Example]:
    """Answers of dialogue systems against the knowledge they were given."""
    for name in ("wow", "tc", "cmu"):
        for row in table_rows(data / "begin" / f"begin_dev_{name}.tsv", separator="\t"):
            if row["begin_label"] == "Generic":
                continue
            is_unsupported = row["begin_label"] != "Fully attributable"
            yield Example(
                data_set="begin",
                source=_digest(row["knowledge"]),
                task="claim",
                evidence=(row["knowledge"],),
                text=row["response"],
                is_unsupported=is_unsupported,
                has_spans=not is_unsupported,
                question=row["message"],
                is_one_claim=True,
            )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
