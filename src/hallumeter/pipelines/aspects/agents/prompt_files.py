"""The prompts of the agents: text files in Korean and English, which a user may replace by files of their own."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

from msgspec import Struct

from hallumeter.errors import InputError, SettingsError

from .protocol import ANSWERS, Role

PROMPT_LANGUAGES = ("en", "ko")
PROMPT_FILES = ("preamble.txt", *(f"{role}.txt" for role in ANSWERS), "repair.txt")
"""In each language: what all roles are told, each role's task, and what is said of a reply that cannot be used."""
PROBLEM = "{problem}"
"""Stands in ``repair.txt`` where the fault of the reply is named."""


class Prompts(Struct, frozen=True):
    """The prompts of all languages."""

    texts: dict[str, dict[str, str]]
    """By language, then by file."""

    def system(self, role: Role, language: str) -> str:
        """What a role is told before it sees anything of the user's; English for a language without prompts."""
        texts = self.texts[_spoken(language)]
        return f"{texts['preamble.txt'].strip()}\n\n{texts[f'{role}.txt'].strip()}"

    def repair(self, problem: str, language: str) -> str:
        """What a model is told when its reply cannot be used."""
        return self.texts[_spoken(language)]["repair.txt"].strip().replace(PROBLEM, problem)

    def prompt_hashes(self, language: str) -> dict[str, str]:
        """SHA-256 of every file of a language, by its name."""
        texts = self.texts[_spoken(language)]
        return {name: hashlib.sha256(texts[name].encode()).hexdigest() for name in PROMPT_FILES}

    def prompts_digest(self) -> str:
        """Changes whenever a prompt does."""
        hashes = [self.prompt_hashes(language)[name] for language in PROMPT_LANGUAGES for name in PROMPT_FILES]
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:16]


@cache
def shipped_prompts() -> Prompts:
    """The prompts that come with the package."""
    folder = resources.files(__package__).joinpath("prompts")
    return Prompts(
        {
            language: {name: folder.joinpath(language, name).read_text(encoding="utf-8") for name in PROMPT_FILES}
            for language in PROMPT_LANGUAGES
        }
    )


def read_prompts(folder: Path | None = None) -> Prompts:
    """The prompts, with those of a folder in the place of the shipped ones of the same language and name.

    The folder holds ``en/`` and ``ko/``, or one of them, each with any of `PROMPT_FILES`.

    Raises:
        InputError: There is no such folder, or a file cannot be read.
        SettingsError: It holds a file that is no prompt, or one without words.
    """
    shipped = shipped_prompts()
    if folder is None:
        return shipped
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder with prompts, such as {folder / 'ko' / 'ate.txt'}")
    files = sorted(folder.glob("*/*.txt"))
    if not files:
        raise SettingsError(f"{folder} holds no prompts; expected files such as {folder / 'ko' / 'ate.txt'}")
    texts = {language: dict(of_language) for language, of_language in shipped.texts.items()}
    for file in files:
        language = file.parent.name
        if language not in PROMPT_LANGUAGES or file.name not in PROMPT_FILES:
            raise SettingsError(
                f"{file}: no such prompt; expected one of {', '.join(PROMPT_FILES)} in {' or '.join(PROMPT_LANGUAGES)}"
            )
        texts[language][file.name] = _read(file)
    return Prompts(texts)


def prompt_hashes(language: str, folder: Path | None = None) -> dict[str, str]:
    """SHA-256 of every prompt of a language, by its file.

    >>> list(prompt_hashes("ko"))[:2], len(prompt_hashes("ko")["ate.txt"])
    (['preamble.txt', 'ate.txt'], 64)
    """
    return read_prompts(folder).prompt_hashes(language)


def prompts_digest(folder: Path | None = None) -> str:
    """Changes whenever a prompt of any language does."""
    return read_prompts(folder).prompts_digest()


def _spoken(language: str) -> str:
    return language if language in PROMPT_LANGUAGES else PROMPT_LANGUAGES[0]


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8 text ({error})") from error
    if not text.strip():
        raise SettingsError(f"{file} is empty; write the prompt, or remove the file to use the shipped one")
    if file.name == "repair.txt" and PROBLEM not in text:
        raise SettingsError(f"{file} has no {PROBLEM}; the fault of the reply is put there")
    return text
