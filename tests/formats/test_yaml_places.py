"""YAML with places: what is read, what is refused, and where it is said to stand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.yaml import LARGEST_FILE, YamlFile, YamlNode, parse_yaml, read_yaml


def parsed(text: str | bytes) -> YamlFile:
    return parse_yaml(text.encode() if isinstance(text, str) else text, "rules.yaml")


def plain(text: str) -> object:
    file = parsed(text)
    assert not file.faults
    assert file.root is not None
    return file.root.plain


def faults(text: str | bytes) -> list[str]:
    return [str(fault) for fault in parsed(text).faults]


def root(file: YamlFile) -> YamlNode:
    assert file.root is not None
    return file.root


@pytest.mark.parametrize(
    "word", ["no", "yes", "on", "off", "y", "n", "No", "1:30", "2024-01-01", "1_000", ".inf", "0x1f"]
)
def test_words_that_older_yaml_takes_for_something_else_stay_words(word: str) -> None:
    assert plain(f"key: {word}") == {"key": word}


def test_numbers_booleans_and_nothing_are_what_they_look_like() -> None:
    assert plain("[1, -2.5, 1e3, .5, true, False, null, ~, '1', !!str 5]") == [
        1, -2.5, 1000.0, 0.5, True, False, None, None, "1", "5",
    ]  # fmt: skip


def test_a_key_is_text_so_that_a_number_and_its_digits_in_quotes_are_one_key() -> None:
    assert plain("turns: {1: a}") == plain('turns: {"1": a}')
    assert faults('1: a\n"1": b\n') == ["rules.yaml:2:1: 1: the key stands twice, first in line 1; keep one"]


def test_every_key_that_stands_twice_is_named() -> None:
    assert faults("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n") == [
        "rules.yaml:4:3: b.c: the key stands twice, first in line 3; keep one",
        "rules.yaml:5:1: a: the key stands twice, first in line 1; keep one",
    ]


def test_all_tabs_of_an_indentation_are_named_and_not_only_the_first() -> None:
    tab = "a tab, where YAML wants spaces; indent with spaces"
    assert sorted(faults("a: 1\n\t- b\n\tc: d\n")) == [f"rules.yaml:2:1: {tab}", f"rules.yaml:3:1: {tab}"]
    assert faults("x:\n\t- a") == [f"rules.yaml:2:1: {tab}"]


def test_a_tab_inside_a_line_is_no_fault() -> None:
    assert plain("a:\tb") == {"a": "b"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "rules.yaml:1:1: the file is empty"),
        (b"# nothing but a comment\n", "rules.yaml:1:1: the file is empty"),
        (b"a: 1\n---\nb: 2\n", "rules.yaml:2:1: a second document begins here; keep one in a file, without ---"),
        (b"ok: 1\nx: \xe9", "rules.yaml:2:4: not UTF-8 (byte 0xe9); save the file as UTF-8"),
        ("a: 1".encode("utf-16"), "rules.yaml:1:1: the text is encoded as UTF-16; save it as UTF-8"),
        (b"a: 1\nx: \x01", "rules.yaml:2:4: the character 0x1 cannot stand in YAML; remove it"),
        (b"a: b: c", "rules.yaml:1:5: not YAML (mapping values are not allowed in this context)"),
        (b"? [a]\n: b", "rules.yaml:1:3: a key that is no plain word; write keys as text"),
        (b"a: *b", "rules.yaml:1:4: *b stands for nothing; no &b ends before it"),
        (b"a: &a [1, *a]", "rules.yaml:1:11: *a stands for nothing; no &a ends before it"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line_with_its_place(content: bytes, expected: str) -> None:
    file = parsed(content)
    assert file.root is None
    assert [str(fault) for fault in file.faults] == [expected]
    assert file.faults[0].is_syntax


def test_a_mark_of_the_encoding_is_no_part_of_the_text() -> None:
    assert plain("\ufeffa: 1") == {"a": 1}


def test_a_tag_is_refused_and_nothing_is_made_of_it() -> None:
    assert faults("a: !!python/object/apply:os.system [ls]") == [
        "rules.yaml:1:4: a: the tag !!python/object/apply:os.system is not understood; write the value without it"
    ]


def test_an_anchor_repeats_its_value_at_another_place() -> None:
    file = parsed("a: &words [x, y]\nb: *words\n")
    assert root(file).plain == {"a": ["x", "y"], "b": ["x", "y"]}


def test_anchors_that_would_grow_without_bounds_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    before = time.process_time()
    [fault] = faults("\n".join(lines))
    assert "more than 100,000 values, those that anchors repeat included" in fault
    assert time.process_time() - before < 5


def test_nesting_without_bounds_is_refused_at_once() -> None:
    before = time.process_time()
    [fault] = faults("[" * 100_000)
    assert fault == "rules.yaml:1:52: more than 50 lists and mappings within each other"
    assert time.process_time() - before < 5


def test_a_place_is_found_by_its_keys_and_else_that_of_what_is_around_it() -> None:
    file = parsed("rules:\n  - id: A\n    when:\n      any: []\n")
    assert file.place_of(("rules", 0, "when", "any")) == "rules.yaml:4:12"
    assert file.place_of(("rules", 0, "penalty")) == "rules.yaml:2:5"
    assert file.place_of(("rules", 7)) == "rules.yaml:2:3"


def test_columns_count_characters_and_not_bytes() -> None:
    assert parsed("당뇨: {약: 메트포르민}").place_of(("당뇨", "약")) == "rules.yaml:1:9"


def test_checks_gather_every_fault_with_what_was_expected_and_found() -> None:
    file = parsed("penalty: x\nname: 3\nturns: 4\nweights: 1\n")
    entries = file.entries(root(file), known=("penalty", "name", "turns", "weight"), needed=("id",))
    assert file.number(entries["penalty"], "a number below 0", accepts=lambda value: value < 0) is None
    assert file.text(entries["name"]) is None
    assert file.items(entries["turns"]) == ()
    with pytest.raises(SettingsError) as caught:
        file.raise_faults()
    assert str(caught.value).split(";\n") == [
        "rules.yaml:1:1: lacks 'id'; give it",
        "rules.yaml:1:10: penalty: expected a number below 0, found 'x'",
        "rules.yaml:2:7: name: expected text, found 3",
        "rules.yaml:3:8: turns: expected a list, found 4",
        "rules.yaml:4:1: weights: unknown key; did you mean 'weight'?",
    ]


def test_one_and_true_are_told_apart_and_infinity_is_no_number() -> None:
    file = parsed("[1, true, 1e400]")
    one, true, infinite = file.items(root(file))
    assert file.choice(one, (True, False)) is None
    assert file.choice(true, (True, False)) is True
    assert file.number(true) is None
    assert file.number(infinite) is None
    assert len(file.faults) == 3


def test_a_mapping_is_not_taken_for_a_list_nor_a_list_for_a_mapping() -> None:
    file = parsed("{a: {b: 1}, c: [1]}")
    entries = file.named(root(file))
    assert file.items(entries["a"]) == ()
    assert file.named(entries["c"]) == {}
    assert file.entries(entries["c"], known=("x",)) == {}
    assert [fault.message for fault in file.faults] == [
        "expected a list, found a mapping",
        "expected a mapping, found a list",
        "expected a mapping, found a list",
    ]


def test_a_file_without_faults_raises_none_and_absent_values_are_no_fault() -> None:
    file = parsed("a: 1")
    assert file.text(None) is None
    assert file.number(None) is None
    assert file.choice(None, (1,)) is None
    assert file.items(None) == ()
    assert file.named(None) == file.entries(None, known=()) == {}
    file.raise_faults()


def test_a_file_that_is_not_there_or_far_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_yaml(tmp_path / "absent.yaml")
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(InputError, match="larger than 4 MiB"):
        read_yaml(huge)


def test_a_file_is_named_without_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("a: [1", encoding="utf-8")
    assert str(read_yaml(path).faults[0]).startswith("mine.yaml:")
