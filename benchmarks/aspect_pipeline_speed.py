"""How many sentences per second the offline pipeline reads, and what blame costs.

    python benchmarks/aspect_pipeline_speed.py MAMS-ATSA_val.xml [--korean hotel_ko_test.txt] [--sentences 4000]
        [--workers 2]

First `processed` and `blame_of` alone, in one process: sentences over seconds of processor time. Then the function
behind `hallumeter aspects run`, everything included: reading, journal, outputs, traces, scorecards and metrics, in
processes; sentences over wall-clock seconds, and over seconds of processor time of all processes. On a busy machine
only the second means something. The sentences of the file are repeated until there are enough; each time a number
stands before them, so that nothing that was read is remembered.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from aspect_datasets import read_mabsa, read_mams, shipped_settings
from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.blame.tables import BlameSums, blame_of
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.run.experiment import Experiment, Source
from hallumeter.aspects.run.pipeline import run_experiment
from hallumeter.aspects.settings import Sentence
from hallumeter.aspects.stages.sequence import processed


def repeated(sentences: list[Sentence], count: int) -> list[Sentence]:
    """So many sentences, no two of them the same."""
    made = []
    for number in range(count):
        turn, place = divmod(number, len(sentences))
        given = sentences[place]
        text = f"{given.text} {turn}" if turn else given.text
        made.append(replace(given, text_id=f"s{number}", text=text))
    return made


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def alone(sentences: list[Sentence]) -> None:
    """Print the speed of the pipeline and of blame in this process."""
    reader, settings = reader_for(sentences[0].language), shipped_settings()
    agent = OfflineAgent([reader])
    for sentence in sentences[:20]:
        processed(sentence, settings, lambda task: agent.answer(task).answer, reader=reader)
    began = time.process_time()
    outputs = [
        processed(sentence, settings, lambda task: agent.answer(task).answer, reader=reader)
        for sentence in sentences[20:]
    ]
    seconds = time.process_time() - began
    print(f"processed: {len(outputs) / seconds:,.0f} sentences per second of one core")
    sums, began = BlameSums(), time.process_time()
    for output in outputs:
        sums.add(blame_of(output))
    print(f"blame: {1000 * (time.process_time() - began) / len(outputs):.3f} ms a sentence")
    began = time.process_time()
    sums.partial().table()
    print(f"blame, all intervals: {time.process_time() - began:.2f} s")


def whole(sentences: list[Sentence], workers: int) -> None:
    """Print the speed of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentences.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            for each in sentences:
                row = {"id": each.text_id, "text": each.text, "language_code": each.language}
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        experiment = Experiment(
            data=Source(input=path, language=sentences[0].language), output=Path(folder), concurrency=workers
        )
        used, began = processor_seconds(), time.perf_counter()
        outcome = run_experiment(experiment)
        seconds, processor = time.perf_counter() - began, processor_seconds() - used
        assert outcome.finished is not None
        count = outcome.finished.sentences
        print(
            f"aspects run, {workers} processes: {count:,} sentences, {outcome.finished.failed} failed, "
            f"{count / seconds:,.0f} per second, {count / processor:,.0f} per second of processor time"
        )


def main() -> None:
    """Print the figures of each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mams", type=Path)
    parser.add_argument("--korean", type=Path)
    parser.add_argument("--sentences", type=int, default=4_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    languages = [read_mams(given.mams)] + ([] if given.korean is None else [read_mabsa(given.korean)[0]])
    for sentences in languages:
        print(f"\n{sentences[0].language}")
        many = repeated(sentences, given.sentences)
        alone(many[: given.sentences // 4])
        whole(many, given.workers)


if __name__ == "__main__":
    main()
