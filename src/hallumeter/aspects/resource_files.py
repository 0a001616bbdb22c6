"""The files that stages read: patterns of languages, and thresholds. All ship; users may give files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hallumeter.formats.yaml import Place, YamlFault, YamlFile, YamlNode, parse_yaml, read_bytes

from .settings import LanguagePatterns, MappingThresholds, OverrideThresholds

LANGUAGES = ("en", "ko")
"""Languages whose patterns ship."""
MAPPING_FILE, OVERRIDE_FILE = "debate_thresholds.json", "debate_override_thresholds.json"
_FOLDER = resources.files("hallumeter.aspects").joinpath("resources")
_UNUSED = "ev_threshold"
"""Of a step of the Korean ABSA agents that is none here."""
_THRESHOLDS = (*OverrideThresholds.__struct_fields__, _UNUSED)
_ALONE = "t0"
"""The name of the profile of a file that holds one without a name."""
_WORD_LISTS = tuple(name for name in LanguagePatterns.__struct_fields__ if name != "synonyms")


class OverrideProfiles(Struct, frozen=True):
    """All that `debate_override_thresholds.json` says."""

    default: str
    profiles: dict[str, OverrideThresholds]

    def named(self, name: str | None = None) -> OverrideThresholds | None:
        """One profile, the default one without a name; None when there is none of that name."""
        return self.profiles.get(self.default if name is None else name)


@cache
def shipped_patterns() -> Mapping[str, LanguagePatterns]:
    """The patterns that ship, by language code."""
    return {language: _patterns(_shipped(f"patterns/{language}.json"), LanguagePatterns()) for language in LANGUAGES}


def load_patterns(language: str, path: Path) -> LanguagePatterns:
    """Patterns of a user's own file; an entry that it lacks is the shipped one of the language, if any.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It has faults; all of them are named with their places.
    """
    return _patterns(_read(path), shipped_patterns().get(language, LanguagePatterns()))


def load_mapping_thresholds(path: Path | None = None) -> MappingThresholds:
    """When the mapping of debates is worth a warning; an entry that a user's own file lacks is the shipped one.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It has faults; all of them are named with their places.
    """
    shipped = _mapping(_shipped(MAPPING_FILE), MappingThresholds())
    return shipped if path is None else _mapping(_read(path), shipped)


def load_override_profiles(path: Path | None = None) -> OverrideProfiles:
    """The profiles of a file, or those that ship; a user's own file stands alone, and may be a single profile.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It has faults; all of them are named with their places.
    """
    return _profiles(_shipped(OVERRIDE_FILE) if path is None else _read(path))


def shipped_resource(name: str) -> bytes:
    """The bytes of a file that ships, such as ``patterns/ko.json``."""
    return _FOLDER.joinpath(*name.split("/")).read_bytes()


def _shipped(name: str) -> YamlFile:
    return parse_json(shipped_resource(name), name)


def _read(path: Path) -> YamlFile:
    return parse_json(read_bytes(path), path.name)


def parse_json(content: bytes, name: str) -> YamlFile:
    """Read the bytes of a JSON file; every value knows its place.

    JSON is a part of YAML but for a few escapes; a file with such escapes is read in another spelling.
    """
    file = YamlFile(name)
    try:
        decoded = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        file.faults.append(YamlFault(name, Place(1, 1), (), f"not valid JSON ({reason}); mend it", is_syntax=True))
        return file
    file = parse_yaml(content, name)
    return parse_yaml(msgspec.json.encode(decoded), name) if any(fault.is_syntax for fault in file.faults) else file


def _patterns(file: YamlFile, otherwise: LanguagePatterns) -> LanguagePatterns:
    given = file.entries(file.root, known=("synonyms", *_WORD_LISTS))
    synonyms = {name: _words(file, node) for name, node in file.named(given.get("synonyms")).items()}
    lists = {name: _words(file, given[name]) for name in _WORD_LISTS if name in given}
    file.raise_faults()
    return replace(otherwise, **lists, synonyms=synonyms if "synonyms" in given else otherwise.synonyms)


def _words(file: YamlFile, node: YamlNode) -> tuple[str, ...]:
    return tuple(word for item in file.items(node) if (word := file.text(item)) is not None)


def _mapping(file: YamlFile, otherwise: MappingThresholds) -> MappingThresholds:
    given = file.entries(file.root, known=MappingThresholds.__struct_fields__)
    numbers = {name: _share(file, node) for name, node in given.items()}
    file.raise_faults()
    return replace(otherwise, **numbers)


def _profiles(file: YamlFile) -> OverrideProfiles:
    root = file.root
    if root is not None and isinstance(root.value, dict) and not root.value.keys().isdisjoint(_THRESHOLDS):
        alone = _profile(file, root)
        file.raise_faults()
        return OverrideProfiles(_ALONE, {_ALONE: alone})
    top = file.entries(file.root, known=("default", "profiles"), needed=("default", "profiles"))
    nodes = file.named(top.get("profiles"))
    profiles = {name: _profile(file, node) for name, node in nodes.items()}
    default = file.choice(top.get("default"), tuple(profiles))
    file.raise_faults()
    return OverrideProfiles(str(default), profiles)


def _profile(file: YamlFile, node: YamlNode) -> OverrideThresholds:
    given = file.entries(node, known=_THRESHOLDS, needed=("min_total", "min_margin", "min_target_conf"))
    _share(file, given.get(_UNUSED))
    is_conservative = file.choice(given.get("l3_conservative"), (True, False)) is True
    weights = {
        name: file.number(given.get(name), "a number from 0", accepts=lambda value: value >= 0) or 0.0
        for name in ("min_total", "min_margin")
    }
    confidence = _share(file, given.get("min_target_conf"))
    return OverrideThresholds(**weights, min_target_conf=confidence, l3_conservative=is_conservative)


def _share(file: YamlFile, node: YamlNode | None) -> float:
    return file.number(node, "a number from 0 to 1", accepts=lambda value: 0 <= value <= 1) or 0.0
