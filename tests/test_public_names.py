"""What other people's code may rely on: the names in __all__, sorted, documented, and there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hallumeter"
PACKAGES = ["hallumeter", *sorted(f"hallumeter.{path.parent.name}" for path in SOURCE.glob("*/__init__.py"))]
MOST_NAMES = 40

every_package = pytest.mark.parametrize("package", PACKAGES)


def reading_order(name: str) -> tuple[int, list[str | int]]:
    """Constants, then classes, then functions; numbers in names compared as numbers. The linter's order too."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name)]


def public_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    assert names is not None, f"{module.__name__} has no __all__; an empty one says that nothing is public"
    return list(names)


@every_package
def test_public_names_are_sorted_and_unique(package: str) -> None:
    names = public_names(importlib.import_module(package))
    assert names == sorted(set(names), key=reading_order)


@every_package
def test_public_names_exist_and_are_documented(package: str) -> None:
    module = importlib.import_module(package)
    for name in public_names(module):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            # Taken from the thing itself: a subclass without a docstring would show that of its parent.
            assert thing.__dict__.get("__doc__") or (not inspect.isclass(thing) and thing.__doc__), (
                f"{package}.{name} has no docstring"
            )


@every_package
def test_whatever_a_package_imports_from_its_modules_is_public(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert imported <= set(public_names(module)), f"{package}: list these in __all__, or do not import them here"


def test_the_package_has_few_public_names() -> None:
    names = public_names(importlib.import_module("hallumeter"))
    assert 0 < len(names) <= MOST_NAMES


def test_names_that_are_resolved_when_first_used_are_listed_beforehand() -> None:
    module = importlib.import_module("hallumeter")
    assert set(public_names(module)) <= set(dir(module))


def test_a_name_that_does_not_exist_is_reported_as_such() -> None:
    module = importlib.import_module("hallumeter")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name
