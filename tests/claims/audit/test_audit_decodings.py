"""How often the text of a response is decoded on its way from the journal to the files of an audit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RECORDS = 12
PROGRAM = """
import collections, json, sys
import msgspec

counts = collections.Counter()
Decoder, decode = msgspec.json.Decoder, msgspec.json.decode


def holds_text(value):
    if isinstance(value, str):
        return value.startswith("The whole text") and value.endswith("high.")
    if isinstance(value, msgspec.Struct):
        return any(holds_text(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return any(map(holds_text, value.values()))
    return isinstance(value, (list, tuple)) and any(map(holds_text, value))


def counted(value):
    if holds_text(value):
        frame = sys._getframe(2)
        while not frame.f_globals["__name__"].startswith("hallumeter"):
            frame = frame.f_back
        counts[frame.f_globals["__name__"]] += 1
    return value


class CountingDecoder:
    def __init__(self, *arguments, **settings):
        self._decoder = Decoder(*arguments, **settings)

    def decode(self, body):
        return counted(self._decoder.decode(body))

    def decode_lines(self, body):
        return counted(self._decoder.decode_lines(body))


# Before anything of hallumeter is imported: its modules keep decoders of their own.
msgspec.json.Decoder = CountingDecoder
msgspec.json.decode = lambda body, **settings: counted(decode(body, **settings))

import hallumeter

settings = hallumeter.AuditSettings(
    judges=tuple(sys.argv[2].split(",")),
    samples=sys.argv[3] or None,
    measure=hallumeter.MeasureSettings(resamples=100),
)
hallumeter.audit(sys.argv[1], settings=settings, out=sys.argv[4])
print(json.dumps(counts))
"""


def row(number: int) -> dict[str, object]:
    # Two sentences, so that no claim is the whole text.
    return {
        "id": f"r{number}",
        "question": "How high is it?",
        "response": f"The whole text is about tower {number}. It is 330 m high.",
        "evidence": "The tower is 330 m high.",
        "answerable": True,
        "samples": ["It is 330 m high.", "It is low."],
        "token_logprobs": [-0.1, -0.2],
    }


@pytest.mark.parametrize(
    ("judges", "samples"), [("rules", ""), ("rules,embedded:fast", ""), ("rules", "rules")], ids=str
)
def test_the_text_of_a_response_is_decoded_twice_from_the_journal_to_the_files(
    judges: str, samples: str, tmp_path: Path
) -> None:
    source = tmp_path / "answers.jsonl"
    source.write_text("".join(json.dumps(row(number)) + "\n" for number in range(RECORDS)), encoding="utf-8")
    words = [str(source), judges, samples, str(tmp_path / "run")]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=100, check=False
    )
    assert ended.returncode == 0, ended.stderr
    counts: dict[str, int] = json.loads(ended.stdout)
    # Once to find its claims, once for all judges; it is written as it stands in the journal.
    assert {name: count / RECORDS for name, count in counts.items() if "audit" in name} == {
        "hallumeter.claims.audit.prepare": 1,
        "hallumeter.claims.audit.judging": 1,
    }
    written = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_bytes().splitlines()]
    assert [record["response"] for record in written] == [row(number)["response"] for number in range(RECORDS)]
