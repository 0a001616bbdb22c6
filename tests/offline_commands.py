"""The command line in this process, where every socket is refused as it is to the programs that tests start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hallumeter.cli.main import main

STARTS = ("os.exec", "os.posix_spawn", "os.system", "subprocess.Popen")
Command = Callable[..., Result]


class SocketGuard:
    """Refuses sockets, and programs other than Python, while it is on: a hook cannot be taken off again."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._is_on = False
        sys.addaudithook(self._look)

    @contextmanager
    def on(self) -> Iterator[None]:
        self.refused.clear()
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def _look(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._is_on:
            return
        is_start = event in STARTS and "python" not in Path(str(arguments[0])).name
        if is_start or event.startswith("socket."):
            # Kept too, because a command may catch what is raised here.
            self.refused.append(f"{event} {arguments}")
            raise PermissionError(f"refused: {event} {arguments}")


@pytest.fixture(scope="session")
def socket_guard() -> SocketGuard:
    return SocketGuard()


@pytest.fixture
def offline_command(
    socket_guard: SocketGuard, offline_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run a command of hallumeter in a folder; processes that it starts are watched through their environment."""

    def run(words: Sequence[str], folder: Path, given: bytes = b"") -> Result:
        monkeypatch.chdir(folder)
        for name in ("PYTHONPATH", "HALLUMETER_ENCODER"):
            monkeypatch.setenv(name, offline_environment[name])
        with socket_guard.on():
            result = CliRunner().invoke(main, list(words), input=given)
        assert not socket_guard.refused, socket_guard.refused
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        return result

    return run
