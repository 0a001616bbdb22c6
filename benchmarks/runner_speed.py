"""Speed of the runner against a server on this machine that answers after 100 ms.

    python benchmarks/runner_speed.py

At 16 calls at once the time is compared with calls × latency / 16; at 64 also with OpenAI's own client driven by as
many threads in the same run, since there the client's own work counts. The order of the two is turned round in each
round, and the medians are compared. Other work on the machine lengthens the waits, but hardly the processor time of
a call, which is printed beside them. Memory is that of this process after the first round and after the last.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai

from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import Spending
from hallumeter.models.protocol import Message, ProviderSpec, Reply, ReplySchema, Request
from hallumeter.models.retry import PacedProvider
from hallumeter.run.lanes import Lane, run_lanes

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from misbehaving_server import MisbehavingServer, server_in_process

LATENCY = 0.1
SCHEMA: dict[str, object] = {"type": "object", "properties": {"echo": {"type": "string"}}, "required": ["echo"]}
PROMPT = "The evidence says a few hundred words about many things. " * 40
Run = Callable[[int], float]


def seconds_with_hallumeter(server: MisbehavingServer, concurrency: int) -> Run:
    """A function from a number of calls to the seconds that the runner needs for them."""
    spec = ProviderSpec(name="bench", model="m")
    inner = OpenAICompatibleProvider(spec, server.openai, key="k", connections=concurrency)
    provider = PacedProvider(inner, pace=PaceSettings(), spending=Spending())

    def work(number: int) -> Reply:
        messages = (Message("user", f"{number} {PROMPT}"),)
        return provider.complete(Request(messages=messages, reply_schema=ReplySchema("echo", SCHEMA)))

    def run(calls: int) -> float:
        kept = 0

        def keep(results: list[tuple[str, int, Reply]]) -> None:
            nonlocal kept
            kept += len(results)

        began = time.perf_counter()
        lane = Lane(name="bench", tasks=iter(range(calls)), work=work, concurrency=concurrency)
        run_lanes([lane], keep, stop=threading.Event())
        seconds = time.perf_counter() - began
        assert kept == calls
        return seconds

    return run


def seconds_with_openai(server: MisbehavingServer, concurrency: int) -> Run:
    """The same calls by the vendor's own client and a pool of threads."""
    client = openai.OpenAI(api_key="k", base_url=server.openai, max_retries=0)

    def work(number: int) -> str | None:
        reply = client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": f"{number} {PROMPT}"}],
            max_tokens=1024,
            temperature=0.0,
            seed=0,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "echo", "strict": True, "schema": SCHEMA},
            },
        )
        return reply.choices[0].message.content

    def run(calls: int) -> float:
        began = time.perf_counter()
        with ThreadPoolExecutor(concurrency) as pool:
            assert sum(text is not None for text in pool.map(work, range(calls))) == calls
        return time.perf_counter() - began

    return run


def resident_megabytes() -> float:
    """Memory of this process that is in use now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * 4096 / 2**20


def compare(server: MisbehavingServer, concurrency: int, *, rounds: int, calls: int) -> None:
    """Print the ratios at one number of calls at once."""
    ours, theirs = seconds_with_hallumeter(server, concurrency), seconds_with_openai(server, concurrency)
    for run in (ours, theirs):
        run(2 * concurrency)  # connections are opened once
    memory = resident_megabytes()
    taken: dict[Run, list[float]] = {ours: [], theirs: []}
    work: dict[Run, float] = {ours: 0.0, theirs: 0.0}
    for number in range(rounds):
        for run in (ours, theirs) if number % 2 else (theirs, ours):
            began = time.process_time()
            taken[run].append(run(calls))
            work[run] += (time.process_time() - began) / (rounds * calls)
    ideal = calls * LATENCY / concurrency
    mine, others = (statistics.median(taken[run]) for run in (ours, theirs))
    print(
        f"{concurrency:3} at once, {calls} calls: hallumeter {mine:.2f} s ({calls / mine:.0f}/s), "
        f"openai {others:.2f} s ({calls / others:.0f}/s), ideal {ideal:.2f} s; "
        f"ratio to ideal {mine / ideal:.3f}, to openai {mine / others:.3f}; "
        f"processor time of a call {work[ours] * 1000:.2f} ms, openai {work[theirs] * 1000:.2f} ms; "
        f"memory grew by {resident_megabytes() - memory:.1f} MB"
    )


def memory_of_many(server: MisbehavingServer, calls: int) -> None:
    """Print how much memory a long run adds to a short one."""
    run = seconds_with_hallumeter(server, 64)
    run(1000)
    before = resident_megabytes()
    run(calls)
    print(f"{calls} more calls at 64 at once: memory grew by {resident_megabytes() - before:.1f} MB")


def main() -> None:
    """Start the server, compare, and stop it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="ideal length of each round")
    options = parser.parse_args()
    with server_in_process(latency_ms=LATENCY * 1000) as server:
        for concurrency in (16, 64):
            calls = int(options.seconds * concurrency / LATENCY)
            compare(server, concurrency, rounds=options.rounds, calls=calls)
        memory_of_many(server, 5000)


if __name__ == "__main__":
    main()
