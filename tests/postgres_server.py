"""A PostgreSQL server on this machine, started for the tests that need one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

PASSWORD = "p@ss w/rd"
QUOTED = "p%40ss%20w%2Frd"
USER = "postgres"


class PostgresServer:
    """A server with a database of its own, which can be stopped and started again."""

    def __init__(self, programs: Path, folder: Path, port: int) -> None:
        self._programs, self._folder, self.port = programs, folder, port

    def url(self, *, password: str = QUOTED) -> str:
        return f"postgresql://{USER}:{password}@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = (str(self._programs / program), *arguments)
        if os.getuid() == 0:  # the server refuses to run as root
            command = ("runuser", "-u", USER, "--", *command)
        done = subprocess.run(command, cwd=self._folder, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._folder}"
        log = str(self._folder / "log")
        self.run("pg_ctl", "start", "-w", "-D", str(self._folder / "data"), "-l", log, "-o", options)

    def stop(self, *, how: str = "immediate") -> None:
        self.run("pg_ctl", "stop", "-w", "-D", str(self._folder / "data"), "-m", how)


def _programs() -> Path | None:
    found = shutil.which("pg_ctl")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))
    return Path(found).parent if found else installed[-1].parent if installed else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed: scripts/environment test installs Debian's postgresql")
    if os.getuid() == 0 and not any(user.pw_name == USER for user in pwd.getpwall()):
        pytest.skip("the tests run as root, and there is no user postgres to run a server")
    with tempfile.TemporaryDirectory(prefix="hm-pg-") as name:
        folder = Path(name)
        secret = folder / "secret"
        secret.write_text(PASSWORD, encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = PostgresServer(programs, folder, port)
        if os.getuid() == 0:
            for path in (folder, secret):
                shutil.chown(path, USER, USER)
        data = str(folder / "data")
        server.run("initdb", "-D", data, "-U", USER, "-A", "scram-sha-256", "--pwfile", str(secret), "--no-sync")
        server.start()
        try:
            yield server
        finally:
            server.stop()
