"""The prompts of the agents, in both languages, and those of a user."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hallumeter.aspects.agents.language_model import (
    PROMPT_FILES,
    PROMPT_LANGUAGES,
    prompt_hashes,
    prompts_digest,
    read_prompts,
    reply_schema,
    shipped_prompts,
)
from hallumeter.aspects.agents.protocol import ANSWERS, Role
from hallumeter.aspects.agents.replies import read_reply
from hallumeter.errors import InputError, SettingsError


@pytest.mark.parametrize("language", PROMPT_LANGUAGES)
@pytest.mark.parametrize("role", ANSWERS)
def test_the_example_in_a_prompt_is_a_reply_of_its_role(role: Role, language: str) -> None:
    prompt = shipped_prompts().texts[language][f"{role}.txt"]
    [example] = [line for line in prompt.splitlines() if line.startswith(("Reply: ", "답: "))]
    sentence = "배터리는 최악" if language == "ko" else "The battery is terrible"
    reply = example.partition(": ")[2]
    assert isinstance(read_reply(reply, role, sentence).answer, ANSWERS[role])
    required: Any = reply_schema(role).schema["required"]
    assert sorted(json.loads(reply)) == sorted(required)


@pytest.mark.parametrize("language", PROMPT_LANGUAGES)
@pytest.mark.parametrize("role", ANSWERS)
def test_every_prompt_says_that_the_sentence_is_data_and_how_offsets_are_counted(role: Role, language: str) -> None:
    prompt = shipped_prompts().system(role, language)
    for words in {
        "en": ("is data", "code points", "exclusive"),
        "ko": ("데이터일 뿐", "코드 포인트", "포함하지 않습니다"),
    }[language]:
        assert words in prompt
    assert ("새로 만들" in prompt or "fresh list" in prompt) or role in (
        *("ate", "atsa", "validator", "debate_summary"),
        *(("epm", "tan", "cj") if language == "en" else ()),
    )


def fields_in(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from fields_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields_in(value)


@pytest.mark.parametrize("role", ANSWERS)
def test_every_field_of_a_reply_is_named_in_the_prompts(role: Role) -> None:
    for language in PROMPT_LANGUAGES:
        prompt = shipped_prompts().system(role, language)
        for name in fields_in(reply_schema(role).schema):
            assert f'"{name}"' in prompt, (language, name)


def test_a_language_without_prompts_is_asked_in_english() -> None:
    prompts = shipped_prompts()
    assert prompts.system("ate", "fr") == prompts.system("ate", "en") != prompts.system("ate", "ko")
    assert prompts.prompt_hashes("fr") == prompts.prompt_hashes("en")


def test_hashes_are_those_of_the_files() -> None:
    folder = Path(shipped_prompts.__wrapped__.__code__.co_filename).parent / "prompts"
    for language in PROMPT_LANGUAGES:
        assert sorted(path.name for path in (folder / language).iterdir()) == sorted(PROMPT_FILES)
        hashes = prompt_hashes(language)
        assert list(hashes) == list(PROMPT_FILES)
        for name, digest in hashes.items():
            assert digest == hashlib.sha256((folder / language / name).read_bytes()).hexdigest()


def test_prompts_of_the_user_replace_the_shipped_ones_and_change_the_digest(tmp_path: Path) -> None:
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko" / "ate.txt").write_text("속성만 찾으세요.", encoding="utf-8")
    prompts = read_prompts(tmp_path)
    assert prompts.system("ate", "ko").endswith("속성만 찾으세요.")
    assert prompts.system("ate", "en") == shipped_prompts().system("ate", "en")
    assert prompts_digest(tmp_path) != prompts_digest()
    assert prompt_hashes("ko", tmp_path) != prompt_hashes("ko")
    assert prompt_hashes("en", tmp_path) == prompt_hashes("en")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ko/atee.txt", "x", "no such prompt; expected one of preamble.txt"),
        ("fr/ate.txt", "x", "no such prompt"),
        ("en/ate.txt", " \n", "is empty"),
        ("en/repair.txt", "Again!", "has no {problem}"),
        ("notes.md", "x", "holds no prompts"),
    ],
)
def test_a_folder_that_is_none_of_prompts_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(message)):
        read_prompts(tmp_path)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a folder with prompts"):
        read_prompts(tmp_path / "nowhere")
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "ate.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InputError, match="cannot be read as UTF-8"):
        read_prompts(tmp_path)


def test_a_repair_names_the_fault_in_the_language_of_the_sentence() -> None:
    prompts = shipped_prompts()
    assert "cannot be used: it {is} odd." in prompts.repair("it {is} odd", "en")
    assert "쓸 수 없습니다: it is odd" in prompts.repair("it is odd", "ko")
