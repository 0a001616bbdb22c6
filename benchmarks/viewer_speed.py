"""How fast the viewer is on a large run: making its index, first paint in a real browser, queries, searches, pages.

python benchmarks/viewer_speed.py [RECORDS]

Writes a run of 100,000 records with about five claims each, by three judges, into a temporary folder. The first paint
is taken before there is an index, and again with it. Needs the extra `viewer`; the browser is Debian's chromium.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.records.response import FieldValue, Passage, Response
from hallumeter.run.verdict_cache import cache_folder
from hallumeter.viewer.app import Viewer

JUDGES = ("rules", "embedded", "large")
REASONS = ("number_mismatch", "name_mismatch", "baseless", None)
TIMES = 5
QUERIES: dict[str, dict[str, object]] = {
    "no filter": {},
    "label refuted": {"behind": {"label": "REFUTED"}},
    "label supported": {"behind": {"label": "SUPPORTED"}},
    "two votes": {"behind": {"votes": {"rules": "unsupported", "large": "SUPPORTED"}}},
    "reason": {"behind": {"reason": "baseless"}},
    "tenth": {"behind": {"tenth": 3}},
    "probability": {"behind": {"probability": [0.2, 0.3]}},
    "probability of a judge, refuted": {"behind": {"probability": [0.9, None], "judge": "rules", "label": "REFUTED"}},
    "model and field": {"behind": {"model": "small", "fields": {"topic": "tax"}}},
    "length": {"behind": {"length": [300, 400]}},
    "without claims": {"behind": {"without_claims": True}},
    "search, rare": {"search": "zanzibar"},
    "search, frequent": {"search": "tower"},
    "search, part of a word": {"search": "evenu"},
    "search, two words": {"search": "tower revenue"},
    "search, Korean, two letters": {"search": "서울"},
    "search, one letter": {"search": "x"},
    "search in evidence": {"search": "handbook"},
    "search and filter": {"search": "tower", "behind": {"label": "REFUTED"}},
}
ORDERS = ("worst", "share", "unmeasured", "disagreement", "name")


def words(rng: random.Random, vocabulary: list[str], count: int) -> str:
    """Some text."""
    return " ".join(rng.choices(vocabulary, k=count))


def write_run(path: Path, records: int) -> int:
    """A run of an audit; how many claims it has."""
    rng = random.Random(1)
    letters = "etaoinshrdlu"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(8000)]
    vocabulary += ["tower", "revenue", "서울은", "paris"] * 40
    passages = [Passage(f"p{n}", f"handbook {n}. " + words(rng, vocabulary, 120)) for n in range(5000)]
    encode = msgspec.json.encode
    path.mkdir(parents=True)
    claims = 0
    with (
        (path / "records.jsonl").open("wb") as first,
        (path / "claims.jsonl").open("wb") as second,
        (path / "verdicts.jsonl").open("wb") as third,
    ):
        for number in range(records):
            text = words(rng, vocabulary, 60) + (" zanzibar" if number % 5000 == 7 else "")
            fields: dict[str, FieldValue] = {"topic": rng.choice(["tax", "law", "art"]), "n": number}
            model, evidence = rng.choice(["small", "large"]), tuple(rng.sample(passages, 2))
            own = Response(f"r{number}", f"Question {number}?", text, evidence, model=model, fields=fields)
            first.write(encode(own) + b"\n")
            for place in range(rng.choice([0, 4, 5, 6, 8])):
                claims += 1
                start = rng.randrange(len(text) - 40)
                second.write(encode(Claim(f"r{number}", f"c{place}", start=start, end=start + 30)) + b"\n")
                for judge in JUDGES:
                    label = rng.choices(list(Label), (8, 1, 1, 0.3))[0]
                    verdict = Verdict(f"r{number}", f"c{place}", judge, label, rng.random(), rng.choice(REASONS))
                    third.write(encode(verdict) + b"\n")
    write_facts(path, Counts(records, claims, claims * len(JUDGES), judges=len(JUDGES), models=2))
    return claims


def write_facts(path: Path, counts: Counts) -> None:
    """Manifest and summary."""
    facts = (None, None, "lower", None, 0, 0, None, "mihr|v:1")
    rate = MetricSummary("mihr", {}, "rules", 1.0, 5.0, 0.2, *facts)  # type: ignore[arg-type]
    judges = tuple(JudgeEntry(judge, judge) for judge in JUDGES)
    inputs = (InputFile("answers.jsonl", None, counts.records),)
    manifest = Manifest(1, "0.1.0", "audit", inputs, judges=judges, started="2026-01-01T00:00:00+00:00")
    (path / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    (path / "summary.json").write_bytes(msgspec.json.encode(Summary(1, "audit", counts, (rate,))))
    for name in ("failures.jsonl", "measurements.jsonl"):
        (path / name).write_bytes(b"")


@contextmanager
def serving(folder: Path) -> Iterator[Viewer]:
    """A viewer in a thread of its own."""
    viewer = Viewer(folder, annotator="nobody", warn=print)
    thread = threading.Thread(target=viewer.run)
    thread.start()
    try:
        yield viewer
    finally:
        viewer.stop()
        thread.join()


def ask(viewer: Viewer, path: str) -> bytes:
    """An answer of the viewer."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=600)
    connection.request("GET", f"/{viewer.token}/{path}")
    body = connection.getresponse().read()
    connection.close()
    return body


def run_address(viewer: Viewer) -> str:
    """Where the only run is."""
    return "runs/" + ask(viewer, "").split(b'href="runs/')[1].partition(b"/")[0].decode() + "/"


def paint(viewer: Viewer, path: str, *, until: str | None = None) -> tuple[float, float | None]:
    """Milliseconds to the first contentful paint, and until a place on the page is in sight."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(viewer.address)
        page.goto(viewer.address + path, wait_until="commit")
        # The policy of the page forbids what wait_for_function does.
        while (first := page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")) is None:
            page.wait_for_timeout(50)
        shown = None
        if until is not None:
            page.wait_for_selector(until, state="visible", timeout=60_000)
            shown = page.evaluate("performance.now()")
        browser.close()
    return first, shown


def timed(viewer: Viewer, path: str, query: dict[str, object], **asked: object) -> tuple[float, int]:
    """Median milliseconds of a question that was not asked before, and how many records it finds."""
    took, matching = [], 0
    for place in range(TIMES):
        # The server remembers answers: spaces change nothing but make the question another one.
        varied = {**query, "search": f"{query.get('search', '')}{' ' * place}"}
        question = urllib.parse.urlencode({**asked, "query": json.dumps(varied)})
        begun = time.perf_counter()
        matching = json.loads(ask(viewer, f"{path}records?{question}"))["matching"]
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took), matching


def main() -> None:
    """Write a run and measure."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "runs" / "large"
        claims = write_run(run, records)
        size = sum(path.stat().st_size for path in run.iterdir()) / 1e6
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{records:,} records, {claims:,} claims, {claims * len(JUDGES):,} verdicts, {size:,.0f} MB")
        with serving(run.parent) as viewer:
            measure(viewer)


def measure(viewer: Viewer) -> None:
    """Print what a reader waits for."""
    path = run_address(viewer)
    begun = time.perf_counter()
    first, _ = paint(viewer, path)
    print(f"first paint before the index is there   {first:8.0f} ms")
    while b"still being read" in ask(viewer, f"{path}records?count=1"):
        time.sleep(0.2)
    size = sum(file.stat().st_size for file in (cache_folder() / "views").glob("*.sqlite")) / 1e6
    print(f"index                                   {time.perf_counter() - begun:8.1f} s ({size:,.0f} MB)")
    first, shown = paint(viewer, path, until=".list .entry")
    print(f"first paint, and the list of records    {first:8.0f} ms {shown or 0:8.0f} ms")
    for name, query in QUERIES.items():
        took, matching = timed(viewer, path, query)
        print(f"{name:38s}  {took:8.0f} ms {matching:8,} records")
    for order in ORDERS:
        print(f"order {order:32s}  {timed(viewer, path, {}, order=order)[0]:8.0f} ms")
    for start in (50, 50_000):
        print(f"page at {start:<30,}  {timed(viewer, path, {}, start=start)[0]:8.0f} ms")
    begun = time.perf_counter()
    for position in range(50):
        ask(viewer, f"{path}records/{position * 977}")
    print(f"one record                              {(time.perf_counter() - begun) * 20:8.0f} ms")
    begun = time.perf_counter()
    ask(viewer, f"{path}facets")
    print(f"facets                                  {(time.perf_counter() - begun) * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
