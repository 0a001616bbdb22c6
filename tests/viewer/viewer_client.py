"""A viewer on a real port in a thread of its own, and somebody who asks it over real HTTP."""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page

from hallumeter.viewer.app import Viewer

SECONDS = 60


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        assert self.status == 200, self.text
        return json.loads(self.text)


class Asker:
    """Asks a viewer whatever a test wants to ask, well formed or not."""

    def __init__(self, viewer: Viewer, said: list[str]) -> None:
        self.port, self.token, self.said = viewer.port, viewer.token, said
        self.address = viewer.address

    def raw(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send exactly this; only `Host` is added, unless it is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            given = dict(headers or {})
            connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
            if body is not None and not {"Content-Length", "Transfer-Encoding"} & given.keys():
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read().decode()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Answer:
        """Ask for something below the token."""
        asked = {name: value if isinstance(value, str | int) else json.dumps(value) for name, value in query.items()}
        question = f"?{urllib.parse.urlencode(asked)}" if asked else ""
        return self.raw("GET", f"/{self.token}/{path}{question}")

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """Send JSON as the page does."""
        usual = {
            "Content-Type": "application/json",
            "X-Hallumeter": "1",
            "Origin": f"http://127.0.0.1:{self.port}",
            "Sec-Fetch-Site": "same-origin",
        }
        renamed = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in (usual | renamed).items() if value}
        return self.raw("POST", f"/{self.token}/{path}", body=json.dumps(body).encode(), headers=given)

    def run_ids(self) -> dict[str, str]:
        """Ids of the runs in the list by name, read off the page."""
        found = {}
        for piece in self.get("").text.split('<a href="runs/')[1:]:
            run_id, _, rest = piece.partition('/"><bdi>')
            found[rest.partition("</bdi>")[0]] = run_id
        return found

    def only_run(self) -> str:
        """The way to the only run there is."""
        (run_id,) = self.run_ids().values()
        return f"runs/{run_id}/"

    def events(self, path: str, until: str, seconds: float = SECONDS) -> list[tuple[str, Any]]:
        """Everything that is told on a stream until an event of that name."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        found: list[tuple[str, Any]] = []
        try:
            connection.request("GET", f"/{self.token}/{path}")
            answer = connection.getresponse()
            assert answer.status == 200
            assert answer.getheader("content-type", "").startswith("text/event-stream")
            name = ""
            while not found or found[-1][0] != until:
                line = answer.readline().decode()
                assert line, f"the stream ended after {found}"
                if line.startswith("event: "):
                    name = line[7:].strip()
                elif line.startswith("data: "):
                    found.append((name, json.loads(line[6:])))
        finally:
            connection.close()
        return found


@contextmanager
def serving(folder: Path, *, annotator: str = "kim", language: str = "en") -> Iterator[Asker]:
    """A viewer over a folder, until the block ends."""
    said: list[str] = []
    viewer = Viewer(folder, annotator=annotator, warn=said.append, language=language)
    thread = threading.Thread(target=viewer.run)
    thread.start()
    try:
        yield Asker(viewer, said)
    finally:
        viewer.stop()
        thread.join(SECONDS)
    assert not thread.is_alive()


@contextmanager
def visited(browser: Browser, asker: Asker, path: str = "") -> Iterator[Page]:
    """A page of the viewer; whatever goes wrong on it, or leaves the machine, fails the test."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(SECONDS * 1000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    own = f"http://127.0.0.1:{asker.port}/"
    page.on("request", lambda sent: None if sent.url.startswith((own, "data:")) else complaints.append(sent.url))
    page.goto(asker.address + path)
    yield page
    page.context.close()
    assert complaints == []


def eventually(look: Any, seconds: float = SECONDS) -> Any:
    """What a look finds as soon as it finds something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
