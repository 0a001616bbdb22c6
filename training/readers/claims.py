"""Single claims against passages: WiCE, Factcheck-GPT, FoolMeTwice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from training.examples import Example, Span

from .lines import json_lines


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


def read_foolmetwice(data: Path) -> Iterator[Example]:
    """Claims that people wrote to mislead others, beside sentences of Wikipedia: some settle them, some do not."""
    for name in ("dev", "test"):
        for row in json_lines(data / "foolmetwice" / f"{name}.jsonl"):
            yield Example(
                data_set="foolmetwice",
                source=row["evidence"][0] if row["evidence"] else row["id"],
                task="claim",
                evidence=tuple(dict.fromkeys([*row["other"], *row["evidence"]])),
                text=row["claim"],
                is_unsupported=row["label"] == "REFUTES",
                has_spans=False,
                is_one_claim=True,
            )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
