"""What other people's code may rely on: the names in __all__, sorted, documented, and there."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

import pytest

PACKAGES = ["hallumeter", "hallumeter.compat", "hallumeter.compat.judge_auditor", "hallumeter.samples"]
"""What is documented for users; everything else is internal and may move."""
MOST_NAMES = 60

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


@pytest.mark.parametrize("name", ["aspects", "dialogue", "transcripts"])
def test_importing_the_folder_of_an_instrument_leaves_its_function_in_place(name: str) -> None:
    importlib.import_module(f"hallumeter.{name}.records" if name != "aspects" else "hallumeter.aspects.settings")
    assert inspect.isfunction(getattr(importlib.import_module("hallumeter"), name))


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
