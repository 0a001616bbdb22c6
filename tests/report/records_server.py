"""A small server that gives the records of a document one by one, as the viewer does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from hallumeter.report.document import Document, RecordSection
from hallumeter.report.drawing import Json
from hallumeter.report.page.payload import entry_of, entry_payload, records_block, remote_payload
from hallumeter.report.page.render import as_data, render_html


class RecordServer(ThreadingHTTPServer):
    """What the server knows, and what it was asked."""

    daemon_threads = True

    def __init__(self, document: Document) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        section = next(section for section in document.sections if isinstance(section, RecordSection))
        self.views = section.records
        block = as_data(remote_payload(total=len(self.views), judges=["rules", "model"]))
        source = render_html(document)
        start = source.index('id="records-data">') + len('id="records-data">')
        source = source[:start] + block + source[source.index("</script>", start) :]
        self.page = source.replace("base-uri ", "connect-src &#39;self&#39;; base-uri ", 1)
        self.labels: dict[tuple[str, str], bool] = {}
        self.asked: list[dict[str, str]] = []
        self.slow: dict[str, float] = {}
        """Seconds that a search takes."""
        self.broken: set[str] = set()
        """Paths that fail."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/token/runs/one/"

    def list(self, asked: dict[str, str]) -> Json:
        """The records whose words or label were asked for."""
        query = json.loads(asked["query"])
        time.sleep(self.slow.get(query["search"], 0))
        label = query["behind"].get("label")
        fit = [
            entry_of(view, position)
            for position, view in enumerate(self.views)
            if query["search"].lower() in f"{view.record_id} {view.question} {view.response}".lower()
            if label is None or any(finding.label and finding.label.value == label for finding in view.findings)
        ]
        start, count = int(asked["start"]), int(asked["count"])
        entries: list[Json] = [entry_payload(entry) for entry in fit[start : start + count]]
        return {"total": len(self.views), "matching": len(fit), "start": start, "entries": entries}


class _Handler(BaseHTTPRequestHandler):
    server: RecordServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/token/runs/one/")
        if path in self.server.broken:
            self.send_error(500)
        elif path == "":
            self._send(self.server.page.encode(), "text/html; charset=utf-8")
        elif self.headers["X-Hallumeter"] != "1":
            self.send_error(403)
        else:
            self._answer(path, {name: values[0] for name, values in parse_qs(parts.query).items()})

    def _answer(self, path: str, asked: dict[str, str]) -> None:
        server = self.server
        if path == "records":
            server.asked.append(asked)
            self._send_json(server.list(asked))
        elif path == "facets":
            self._send_json({"labels": [1, 1, 0, 0, 1], "models": [["m", len(server.views)]]})
        elif path == "labels":
            found = server.labels.items()
            self._send_json([{"record_id": key[0], "claim_id": key[1], "is_right": value} for key, value in found])
        else:
            self._send_json(records_block([server.views[int(path.removeprefix("records/"))]]))

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = (given["record_id"], given["claim_id"])
        if "post" in self.server.broken:
            self.send_error(500)
            return
        if given["is_right"] is None:
            self.server.labels.pop(key, None)
        else:
            self.server.labels[key] = given["is_right"]
        self._send_json(given)

    def _send_json(self, value: Json) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name that the base class gives it)
        """Say nothing: the tests look at what was asked."""


@contextmanager
def served(document: Document) -> Iterator[RecordServer]:
    """The server at work in a thread."""
    server = RecordServer(document)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
