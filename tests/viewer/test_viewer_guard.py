"""Only pages of this server, on this machine, are answered."""

from __future__ import annotations

import http.client
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from viewer_client import Asker, serving
from viewer_runs import written_run

LABEL = {"record_id": "r1", "claim_id": "r1#0", "is_right": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    written_run(folder / "one", 20)
    (folder / "secret.txt").write_text("a secret", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def asker(folder: Path) -> Iterator[Asker]:
    with serving(folder) as asker:
        yield asker


def test_it_listens_on_this_machine_alone(asker: Asker) -> None:
    assert asker.address.startswith("http://127.0.0.1:")
    others = {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {
        "127.0.0.1"
    }
    for address in others:
        if address.startswith("127."):
            continue
        with socket.socket() as connection:
            connection.settimeout(2)
            # Not through the tests' own guard, which refuses other machines: this address is this machine's.
            assert socket.SocketType.connect_ex(connection, (address, asker.port)) != 0


@pytest.mark.parametrize(
    "path", ["/", "/favicon.ico", "/{short}/", "/{token}x/", "/{upper}/", "//{token}x/", "/{token}"]
)
def test_a_wrong_token_finds_nothing(asker: Asker, path: str) -> None:
    told = path.format(token=asker.token, short=asker.token[:-1], upper=asker.token.swapcase())
    answer = asker.raw("GET", told)
    assert answer.status == 404
    assert "runs" not in answer.text


def test_the_token_is_another_every_time(folder: Path) -> None:
    with serving(folder) as first, serving(folder) as second:
        assert first.token != second.token
        assert len(first.token) >= 32


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", ""]
)
def test_another_host_name_is_refused(asker: Asker, host: str) -> None:
    answer = asker.raw("GET", f"/{asker.token}/", headers={"Host": host.format(port=asker.port)})
    assert answer.status == 400
    assert answer.text.count("\n") == 1


def test_this_machine_may_be_called_localhost(asker: Asker) -> None:
    answer = asker.raw("GET", f"/{asker.token}/", headers={"Host": f"localhost:{asker.port}"})
    assert answer.status == 200


@pytest.mark.parametrize("path", ["", "runs/{run}/", "static/nodes.js", "nothing", "runs/{run}/labels", "trends"])
def test_every_answer_carries_the_headers(asker: Asker, path: str) -> None:
    answer = asker.get(path.format(run=asker.run_ids()["one"]))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null", "Sec_Fetch_Site": ""},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
        {"X_Hallumeter": ""},
    ],
)
def test_a_page_of_somebody_else_changes_nothing(asker: Asker, folder: Path, changed: dict[str, str]) -> None:
    answer = asker.post(f"{asker.only_run()}labels", LABEL, **changed)
    assert answer.status == 403
    assert not (folder / "one" / "labels.sqlite").exists()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_form_could_send_is_refused(asker: Asker, kind: str) -> None:
    assert asker.post(f"{asker.only_run()}labels", LABEL, Content_Type=kind).status == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(asker: Asker, method: str) -> None:
    assert asker.raw(method, f"/{asker.token}/").status == 405


@pytest.mark.parametrize("path", ["", "trends", "runs/x/", "static/nodes.js"])
def test_only_labels_are_taken(asker: Asker, path: str) -> None:
    assert asker.post(path, LABEL).status in {404, 405}


ESCAPES = [
    *("..", "../", "../..", "%2e%2e", "%2e%2e%2f", "..%2f..%2fsecret.txt", "%2e%2e/secret.txt", "....//secret.txt"),
    *("..%5csecret.txt", "%252e%252e%252fsecret.txt", "one", "one%00", "/etc/passwd", "%2fetc%2fpasswd", "~", "."),
    *("..%c0%af", "%ff%fe", "C:%5cWindows"),
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_path_leads_out_of_the_list_of_runs(asker: Asker, escape: str) -> None:
    for path in (f"runs/{escape}/", f"runs/{escape}/records", f"static/{escape}", f"runs/{escape}/secret.txt"):
        answer = asker.raw("GET", f"/{asker.token}/{path}")
        assert answer.status in {400, 404}
        assert "secret" not in answer.text
        assert "root:" not in answer.text


def test_files_of_a_run_are_not_given_as_they_are(asker: Asker) -> None:
    run = asker.only_run()
    for name in ("manifest.json", "records.jsonl", "..%2fsecret.txt", "records/..%2f..", "records/-1", "records/1e3"):
        assert asker.raw("GET", f"/{asker.token}/{run}{name}").status == 404


def test_links_that_lead_outside_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    written_run(outside / "private", 5)
    inside = tmp_path / "inside"
    written_run(inside / "own", 5)
    (inside / "way").symlink_to(outside, target_is_directory=True)
    (inside / "same").symlink_to(inside / "own", target_is_directory=True)
    written_run(inside / "linked", 5)
    (inside / "linked" / "records.jsonl").unlink()
    (inside / "linked" / "records.jsonl").symlink_to(outside / "private" / "records.jsonl")
    with serving(inside) as asker:
        runs = asker.run_ids()
        assert set(runs) == {"own", "linked"}
        assert "a link that leads outside" in asker.get(f"runs/{runs['linked']}/").text
        assert asker.get(f"runs/{runs['linked']}/records").status == 503
        told = " ".join(asker.said)
        assert str(inside / "way") in told
        assert str(inside / "linked" / "records.jsonl") in told
        assert str(inside / "same") not in told


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("records?query={", 400),
        ("records?query=[]", 400),
        ("records?query=%7B%22search%22%3A1%7D", 400),
        ("records?query=%7B%22nonsense%22%3A1%7D", 400),
        ("records?query=%7B%22behind%22%3A%7B%22label%22%3A%22X%22%7D%7D", 400),
        ("records?query=" + "%5B" * 5000, 400),
        ("records?order=cheapest", 400),
        ("records?start=-1", 400),
        ("records?start=1e9", 400),
        ("records?count=999999999999999999999", 400),
        ("records?query=%FF", 400),
        ("records?" + "x" * 20_000, 414),
        ("records/99999", 404),
        ("records/99999999999999999999999", 404),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_in_one_line(asker: Asker, path: str, status: int) -> None:
    answer = asker.raw("GET", f"/{asker.token}/{asker.only_run()}{path}")
    assert answer.status == status
    assert answer.text.count("\n") == 1
    assert "Traceback" not in answer.text


def test_a_question_with_a_body_is_refused(asker: Asker) -> None:
    assert asker.raw("GET", f"/{asker.token}/", body=b"{}").status == 400
    chunked = {"Transfer-Encoding": "chunked"}
    assert asker.raw("GET", f"/{asker.token}/", body=b"0\r\n\r\n", headers=chunked).status == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"record_id": 1}', b"\xff", b'{"record_id":"r1","claim_id":"c"}'])
def test_a_body_that_is_not_a_label_is_refused_in_one_line(asker: Asker, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "X-Hallumeter": "1"}
    answer = asker.raw("POST", f"/{asker.token}/{asker.only_run()}labels", body=body, headers=headers)
    assert answer.status == 400
    assert answer.text.count("\n") == 1


def test_a_body_that_is_too_long_is_refused(asker: Asker) -> None:
    headers = {"Content-Type": "application/json", "X-Hallumeter": "1"}
    body = b'{"record_id": "' + b"x" * 100_000 + b'"}'
    assert asker.raw("POST", f"/{asker.token}/{asker.only_run()}labels", body=body, headers=headers).status == 413


def test_a_folder_that_cannot_be_looked_into_is_said(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    written_run(tmp_path / "own", 3)
    (tmp_path / "closed").mkdir(mode=0)
    with serving(tmp_path) as asker:
        assert set(asker.run_ids()) == {"own"}
        assert "cannot be looked into" in " ".join(asker.said)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "half a line", "half a header", "half a body"],
)
def test_a_connection_whose_request_does_not_come_is_closed(
    folder: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hallumeter.viewer.app._SECONDS_TO_ASK", 0.3)
    with serving(folder) as asker, socket.create_connection(("127.0.0.1", asker.port), timeout=20) as connection:
        connection.sendall(sent)
        assert _all_that_comes(connection) == b"" or b"POST" in sent
        assert asker.get("").status == 200


def test_a_byte_now_and_then_gains_no_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hallumeter.viewer.app._SECONDS_TO_ASK", 0.5)
    with serving(folder) as asker, socket.create_connection(("127.0.0.1", asker.port), timeout=0.1) as connection:
        begun = time.monotonic()
        while time.monotonic() - begun < 20:
            try:
                connection.sendall(b"G")
            except ConnectionError:
                break
            time.sleep(0.1)
        assert 0.4 <= time.monotonic() - begun < 20


def test_a_connection_is_kept_between_requests(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hallumeter.viewer.app._SECONDS_TO_ASK", 0.3)
    with serving(folder) as asker:
        connection = http.client.HTTPConnection("127.0.0.1", asker.port, timeout=20)
        for _ in range(3):
            connection.request("GET", f"/{asker.token}/")
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            time.sleep(0.5)
        connection.close()


def _all_that_comes(connection: socket.socket) -> bytes:
    """Everything until the other side ends the connection."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionError:
        pass
    return found
