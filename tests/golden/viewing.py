"""Ask `hallumeter view` over real HTTP, and write down what it answers."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

from normalising import page_words

SECONDS = 30
RETRIES = 200


class Asker:
    """A viewer in a process of its own, as a browser sees it."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "hallumeter", "view", str(folder), "--annotator", "kim", *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ}
        )
        assert self._process.stdout is not None
        address = urllib.parse.urlsplit(self._process.stdout.readline().strip())
        self._port, self._token = int(address.port or 0), address.path.strip("/")

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def ask(self, path: str, body: object = None) -> tuple[int, str]:
        """Status and text; while the viewer is still reading, or comparing, it is asked again."""
        for _ in range(RETRIES):
            status, text = self._once(path, body)
            if status != 503 and "waiting.js" not in text:
                break
            time.sleep(0.05)
        return status, text.replace(self._token, "<token>").replace(f":{self._port}", ":<port>")

    def _once(self, path: str, body: object) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        headers = {"Content-Type": "application/json", "X-Hallumeter": "1"}
        headers |= {"Origin": f"http://127.0.0.1:{self._port}", "Sec-Fetch-Site": "same-origin"}
        try:
            if body is None:
                connection.request("GET", f"/{self._token}/{path}")
            else:
                connection.request("POST", f"/{self._token}/{path}", json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def run_ids(self) -> dict[str, str]:
        """Ids of the runs by name, read off the list."""
        found = re.findall(r'<a href="runs/([^/"]+)/"><bdi>(.*?)</bdi>', self.ask("")[1])
        return {name: run_id for run_id, name in found}


def asked(asker: Asker, path: str, body: object = None) -> str:
    """A question and its answer: JSON in lines, of pages their words."""
    status, text = asker.ask(path, body)
    try:
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        text = page_words(text) if text.lstrip().startswith("<") else text
    question = f"GET {path}" if body is None else f"POST {path} {json.dumps(body, ensure_ascii=False)}"
    return f"{question}\nstatus {status}\n{text}"


QUERIES = (
    *("records?count=2", "records?order=worst&start=1&count=2", "records/0", "records/999", "records?order=nosuch"),
    *("records?start=x", "records?query=x", "facets", "labels"),
)


def viewed(folder: Path, *options: str) -> list[str]:
    """Everything that the viewer says of the runs in a folder."""
    _date_runs(folder)
    with Asker(folder, *options) as asker:
        runs = asker.run_ids()
        said = [f"runs: {', '.join(sorted(runs))}", asked(asker, ""), asked(asker, "trends")]
        run = f"runs/{runs['run']}/"
        said += [asked(asker, run + path) for path in (*QUERIES, "")]  # the page is whole when records are read
        said += _labelled(asker, run, folder)
        if "other" in runs:
            said.append(asked(asker, f"compare/{runs['run']}/{runs['other']}"))
        said += [asked(asker, "runs/nosuch/"), asked(asker, "nosuch"), asked(asker, f"{run}labels", {"is_right": 1})]
    return [_without_ids(text, runs) for text in said]


def _date_runs(folder: Path) -> None:
    """Give runs days of their own: those that began in the same second are listed in either order."""
    for number, path in enumerate(sorted(folder.glob("*/manifest.json"))):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        day = f"2026-01-0{9 - number}"
        manifest |= {"started": f"{day}T10:00:00+00:00", "finished": f"{day}T10:00:05+00:00"}
        path.write_text(json.dumps(manifest), encoding="utf-8")


def _labelled(asker: Asker, run: str, folder: Path) -> list[str]:
    """Labels as they are given, told and exported: of a claim that there is, and of one that is not."""
    with (folder / "run" / "claims.jsonl").open(encoding="utf-8") as lines:
        first = json.loads(next(lines))
    label = {"record_id": first["record_id"], "is_right": False}
    said = [asked(asker, f"{run}labels", {**label, "claim_id": each}) for each in (first["claim_id"], "nosuch")]
    return [*said, asked(asker, f"{run}labels"), asked(asker, f"{run}labels.csv")]


def _without_ids(text: str, runs: dict[str, str]) -> str:
    """Ids of runs are made of where they lie."""
    for name, run_id in runs.items():
        text = text.replace(run_id, f"<id of {name}>")
    return text
