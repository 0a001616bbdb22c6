"""The names that other people's code may use, with their signatures, without a word on where they are defined."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from types import ModuleType

import msgspec

MODULES = (
    *("hallumeter", "hallumeter.compat", "hallumeter.compat.absa", "hallumeter.compat.medical"),
    *("hallumeter.compat.picarones", "hallumeter.compat.judge_auditor", "hallumeter.testing"),
    "hallumeter.pytest_plugin",
)
DOCUMENTED = {"hallumeter.compat.medical": ("compute_advanced_metrics",)}
"""Public names of modules without `__all__`."""
_PREFIX = re.compile(r"\b(?:[a-zA-Z_]\w*\.)+(?=[A-Za-z_])")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_QUOTED = re.compile(r"(: |-> )'([^']*)'(?=[,)]| = |$)")
_CLASS = re.compile(r"<(?:class|enum) '([^']+)'>")


def text_of(signature: object) -> str:
    """A signature or a value, without the modules of its types and without addresses in memory.

    Annotations that are kept as texts look like those that are not.
    """
    return _PREFIX.sub("", _CLASS.sub(r"\1", _ADDRESS.sub("", str(signature))))


def struct_signature(thing: type[msgspec.Struct]) -> str:
    """Fields as they are written; names that exist for type checkers alone are not looked up."""
    written = {
        name: each for base in reversed(thing.__mro__) for name, each in vars(base).get("__annotations__", {}).items()
    }
    fields = [f"{name}: {text_of(written[name])}{default}" for name, default in _struct_fields(thing)]
    by_place = len(thing.__match_args__)
    by_name = ["*", *fields[by_place:]] if by_place < len(fields) else []
    return f"({', '.join([*fields[:by_place], *by_name])})"


def _struct_fields(thing: type[msgspec.Struct]) -> list[tuple[str, str]]:
    names, defaults = thing.__struct_fields__, thing.__struct_defaults__
    shown = [""] * (len(names) - len(defaults)) + [_default(each) for each in defaults]
    return list(zip(names, shown, strict=True))


def _default(value: object) -> str:
    if value is msgspec.NODEFAULT:
        return ""
    factory = getattr(value, "factory", None)
    return f" = {factory.__name__}()" if factory else f" = {text_of(repr(value))}"


def signature_of(thing: object) -> str:
    if inspect.isclass(thing) and issubclass(thing, msgspec.Struct):
        return struct_signature(thing)
    try:
        return _QUOTED.sub(r"\1\2", text_of(inspect.signature(thing)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"


def described(name: str, thing: object) -> list[str]:
    """One public thing: a line for a function or a value, several for a class."""
    if isinstance(thing, ModuleType):
        return [f"module {name}"]
    if inspect.isclass(thing):
        return [f"class {name}{_bases(thing)}", *(f"    {line}" for line in _members(thing))]
    if callable(thing):
        return [f"def {name}{signature_of(thing)}"]
    keys = f" with {', '.join(map(str, thing))}" if isinstance(thing, dict) else ""
    return [f"{name}: {type(thing).__name__}{keys}"]


def _bases(thing: type) -> str:
    public = [each.__name__ for each in thing.__mro__[1:] if each is not object and not each.__name__.startswith("_")]
    return f"({', '.join(public)})"


def _members(thing: type) -> list[str]:
    if issubclass(thing, enum.Enum):
        return [f"{each.name} = {each.value!r}" for each in thing]
    found = [] if issubclass(thing, Exception) else [f"__init__{signature_of(thing)}"]
    for name in sorted(dir(thing)):
        member = inspect.getattr_static(thing, name)
        is_of_python = hasattr(Exception, name) or (issubclass(thing, dict) and hasattr(dict, name))
        if name.startswith("_") or is_of_python or name in getattr(thing, "__struct_fields__", ()):
            continue
        if isinstance(member, property):
            found.append(f"{name}: property")
        elif isinstance(member, classmethod | staticmethod) or inspect.isroutine(member):
            found.append(f"def {name}{signature_of(getattr(thing, name))}")
        else:
            found.append(name)
    return found


def public_names() -> list[str]:
    """All of them, module by module."""
    texts = []
    for place in MODULES:
        module = importlib.import_module(place)
        texts.append(f"# {place}")
        names = module.__all__ if hasattr(module, "__all__") else DOCUMENTED[place]
        texts += ["\n".join(described(name, getattr(module, name))) for name in names]
    return texts
