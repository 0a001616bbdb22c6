"""What every test shares: no network, repeatable examples, and a way to run programs that prove they stay offline."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import pytest
from hypothesis import is_hypothesis_test, settings

from sharing import made_once

# Examples are drawn the same way every time, so that a failure at the desk is the failure in CI.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")
QUICK_EXAMPLES = 25
"""The most examples of a property that the quick tier tries, a quarter of what its test asks of the long tier."""

collect_ignore = ["ingest/make"]
"""Scripts that run other tools, which are not installed here."""
pytest_plugins = [
    *("browsing", "drawn_pages", "misbehaving_server", "object_storage", "offline_commands", "postgres_server"),
]
"""Fixtures: a browser, pages drawn for OCR engines, language models that misbehave, object storage, commands without a
network, a PostgreSQL server."""

# A shell lets what it starts in the background ignore Ctrl-C, and programs started by the tests would as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REFUSAL_EXIT_CODE = 97
RECORDED_BY = {"HALLUMETER_ENCODER": "numpy"}
"""Numbers in the documentation are those of numpy: onnxruntime says other last digits on other processors."""
Program = Callable[[Sequence[str | Path], Path], subprocess.CompletedProcess[str]]

# Python runs a module of this name at every start, so programs started by the program are watched too. Starting
# anything that is not Python could hide a connection, and is refused for that.
SITECUSTOMIZE = f"""
import os, sys, traceback

STARTS = ("os.exec", "os.posix_spawn", "os.system", "subprocess.Popen")


def refuse(event, arguments):
    if event.startswith("socket."):
        what = f"{{event}} {{arguments[1:]}}"
    elif event in STARTS and "python" not in os.path.basename(str(arguments[0])):
        what = f"{{event}} {{arguments[0]}}"
    else:
        return
    os.write(2, f"refused: {{what}}\\n".encode() + "".join(traceback.format_stack()).encode())
    os._exit({REFUSAL_EXIT_CODE})


sys.addaudithook(refuse)
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try few examples of every property in the quick tier, and all of them in the long one."""
    properties = [item for item in items if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)]
    tier = config.getoption("markexpr")
    if tier == "long":
        for item in properties:
            item.add_marker("long")
    elif tier == "not long":
        for test in {item.obj for item in properties}:
            own = test._hypothesis_internal_use_settings
            few = min(QUICK_EXAMPLES, max(1, own.max_examples // 4))
            test._hypothesis_internal_use_settings = settings(own, max_examples=few)


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where caches are kept instead of the user's own folder, also by programs that tests start."""
    folder = tmp_path_factory.mktemp("caches")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HALLUMETER_CACHE", str(folder / "shared"))
        yield folder


@pytest.fixture(autouse=True)
def _cache_of_its_own(_caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find what another has remembered; the folder is made when something is kept there."""
    monkeypatch.setenv("HALLUMETER_CACHE", str(_caches / uuid.uuid4().hex))


@pytest.fixture(scope="session")
def offline_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which every Python program ends with code 97 when it opens a socket."""
    folder = tmp_path_factory.mktemp("offline")
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE, encoding="utf-8")
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **RECORDED_BY, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}


@pytest.fixture(scope="session")
def run_offline(
    offline_environment: dict[str, str],
) -> Program:
    """Run a program in a folder, refusing it every socket, and hand back what it printed."""

    def run(arguments: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments,
            cwd=folder,
            env=offline_environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def finished_demo(run_offline: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the demo writes: a folder of run folders, beside it what it printed. Tests that change it take a copy."""

    def make(folder: Path) -> None:
        done = run_offline([sys.executable, "-m", "hallumeter", "demo"], folder)
        assert done.returncode == 0, done.stderr
        (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")

    folder = made_once(tmp_path_factory, "demo", make)
    manifests = sorted(folder.rglob("manifest.json"))
    assert manifests, "the demo wrote no run folder"
    before = _state_of(folder)
    yield manifests[0].parent.parent
    assert _state_of(folder) == before, "a test has changed the demo that all tests share; it must take a copy"


def _state_of(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def commands_below(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None, f"{name} is listed but cannot be loaded"
        yield from commands_below(below, (*path, name))


@pytest.fixture(scope="session")
def cli_commands() -> dict[str, click.Command]:
    """Every command of the command line by the words that are typed for it, subcommands included."""
    return dict(commands_below(importlib.import_module("hallumeter.cli.main").main))


@pytest.fixture(autouse=True)
def _stay_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to other machines inside the test process itself."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: tuple[str, int] | str | bytes) -> None:
        is_here = self.family == socket.AF_UNIX or address[0] in {"127.0.0.1", "::1", "localhost"}
        assert is_here, f"a test tried to connect to {address!r}; no test may use the network"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
