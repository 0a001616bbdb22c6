"""Every message that a page can say, found where it is written."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path

from jinja2 import nodes

import hallumeter
from hallumeter.catalog import METRICS
from hallumeter.report.page.render import counted_in, said_in, templates

PACKAGE = Path(hallumeter.__file__).parent
SAID = {"say": 0, "say_html": 0, "message": 0, "_": 0, "html": 0}
COUNTED = {"say_count": 2, "say_count_html": 2, "counted": 2, "counted_html": 2}
"""The functions that say something, and which of their arguments is the message."""

Said = dict[str, str]
"""Messages, and a file in which each is said."""


@functools.cache
def said_messages() -> tuple[Said, Said]:
    """What is said, and what is counted, under the English plural."""
    said: Said = {}
    counted: Said = {}
    for path in (path for path in sorted(PACKAGE.rglob("*")) if path.is_file()):
        for message, is_counted in _messages(path):
            (counted if is_counted else said).setdefault(message, path.relative_to(PACKAGE).as_posix())
    return said, counted


def metric_messages() -> set[str]:
    """What the catalog of metrics asks, and when a metric is undefined; aliases are names, and may stay."""
    return {text for metric in METRICS for text in (metric.name, metric.question, metric.undefined_when)}


@functools.cache
def other_texts() -> set[str]:
    """All texts of the code: a reason why a number is undefined is one of them, and is said where it is shown."""
    return set(_constants(PACKAGE))


def _messages(path: Path) -> Iterator[tuple[str, bool]]:
    if path.suffix == ".py":
        yield from _of_python(path)
    elif path.name == "wording.toml":
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        yield from ((text, False) for table in tables.values() for text in table.values())
    elif path.suffix == ".html":
        yield from _of_template(path)
    elif path.suffix == ".js" and not path.name.endswith(".min.js"):
        yield from ((text, False) for text in said_in(str(path)))
        yield from ((text, True) for text in counted_in(str(path)))


def _of_python(path: Path) -> Iterator[tuple[str, bool]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            place = SAID.get(node.func.id, COUNTED.get(node.func.id))
            given = node.args[place] if place is not None and place < len(node.args) else None
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.value, node.func.id in COUNTED


def _of_template(path: Path) -> Iterator[tuple[str, bool]]:
    tree = templates().parse(path.read_text(encoding="utf-8"))
    for node in tree.find_all(nodes.Call):
        if isinstance(node.node, nodes.Name):
            place = SAID.get(node.node.name, COUNTED.get(node.node.name))
            given = node.args[place] if place is not None and place < len(node.args) else None
            if isinstance(given, nodes.Const) and isinstance(given.value, str):
                yield given.value, node.node.name in COUNTED


def _constants(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
