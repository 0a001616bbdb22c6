"""Checks of the settings in an `experiment.yaml`; what is wrong is kept with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.formats.yaml import YamlFile, YamlNode
from hallumeter.models.by_name import provider_spec
from hallumeter.models.prices import parse_price

Checks: TypeAlias = Mapping[str, Callable[[YamlFile, YamlNode], Any]]
"""By name of a setting."""
_MOST = 1_000_000_000
"""A larger whole number is a slip of the pen."""


def checked(file: YamlFile, given: Mapping[str, YamlNode], checks: Checks) -> dict[str, Any]:
    """The entries that are settings under the same name; nothing stands for the default, but of a temperature."""
    return {
        key: None if given[key].value is None else check(file, given[key])
        for key, check in checks.items()
        if key in given and (given[key].value is not None or key == "temperature")
    }


def is_folder_name(name: str) -> bool:
    """Whether a run may be called so on every system.

    >>> is_folder_name("pilot-2"), is_folder_name("../pilot"), is_folder_name("")
    (True, False, False)
    """
    return name[:1].isalnum() and all(sign.isalnum() or sign in "._-" for sign in name)


def folder_name(file: YamlFile, node: YamlNode) -> str | None:
    """The name of a run."""
    name = file.text(node)
    if name is not None and not is_folder_name(name):
        file.refuse(node, f"{name!r} cannot be the name of a folder; use letters, digits, dots and dashes")
    return name


def model_name(file: YamlFile, node: YamlNode, *, offline: str = "offline") -> str | None:
    """The name of a language model, or of the one that is none."""
    name = file.text(node)
    if name is None or name == offline:
        return name
    if not name.startswith(("http://", "https://")) and not all(name.partition(":")):
        file.refuse(node, f"{name!r} names no model; expected offline, openai:MODEL, anthropic:MODEL or an address")
        return name
    try:
        provider_spec(name)
    except HallumeterError as error:
        file.refuse(node, str(error))
    return name


def price_list(file: YamlFile, node: YamlNode) -> dict[str, str]:
    """Prices by name of the model, as they were written."""
    found = {name: str(entry.value) for name, entry in file.named(node).items()}
    for name, entry in file.named(node).items():
        try:
            parse_price(found[name])
        except SettingsError as error:
            file.refuse(entry, str(error))
    return found


def file_path(file: YamlFile, node: YamlNode) -> Path | None:
    """A path, from the current folder."""
    found = file.text(node)
    return None if found is None else Path(found)


def whole_number(file: YamlFile, node: YamlNode, least: int) -> int | None:
    """A whole number."""
    found = file.number(
        node, f"a whole number from {least}", accepts=lambda value: value == int(value) and least <= value <= _MOST
    )
    return None if found is None else int(found)


def amount(file: YamlFile, node: YamlNode, *, is_zero_allowed: bool) -> float | None:
    """A number that is not negative."""
    bound = "from 0" if is_zero_allowed else "above 0"
    return file.number(node, f"a number {bound}", accepts=lambda value: value > 0 or (is_zero_allowed and value == 0))


def share(file: YamlFile, node: YamlNode) -> float | None:
    """A number from 0 to 1."""
    return file.number(node, "a number from 0 to 1", accepts=lambda value: 0 <= value <= 1)


def yes_or_no(file: YamlFile, node: YamlNode) -> bool | None:
    """Yes or no."""
    found = file.choice(node, (True, False))
    return found if isinstance(found, bool) else None


def among(*words: str) -> Callable[[YamlFile, YamlNode], object]:
    """One of some words."""
    return lambda file, node: file.choice(node, words)
