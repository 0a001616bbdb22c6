"""What every judge does: take claims with their evidence, and say of each whether the evidence supports it."""

from __future__ import annotations

import hashlib
from typing import Protocol

import msgspec
from msgspec import Struct

from hallumeter.records import Claim, Failure, Response, Verdict


class JudgeSpec(Struct, frozen=True):
    """Who judges, with everything that could change a verdict."""

    name: str
    """As it stands in verdicts: ``rules@1``, ``openai:gpt-4o-mini``."""
    settings: tuple[tuple[str, str], ...] = ()
    """Names and values, in a fixed order; prompts by their hash."""
    claims_per_task: int | None = None
    """How many claims of a response are judged together; None for all of them."""
    is_remote: bool = False
    """It waits for something outside: several are asked at once, and what they said is cached."""
    is_parallel: bool = False
    """Copies of it may work in several processes at once."""

    def __str__(self) -> str:
        settings = dict(self.settings)
        if self.claims_per_task is not None:
            settings["batch"] = str(self.claims_per_task)
        return " ".join([self.name, *(f"{name}={value}" for name, value in settings.items())])

    @property
    def digest(self) -> bytes:
        """Differs whenever a verdict could differ."""
        said = msgspec.json.encode((self.name, self.settings, self.claims_per_task))
        return hashlib.blake2b(said, digest_size=16).digest()


class JudgeTask(Struct, frozen=True):
    """Claims of one response, to be judged together."""

    response: Response
    """With its question and its evidence."""
    claims: tuple[Claim, ...]


class Judge(Protocol):
    """Anyone who judges. It may be called from several threads at once when its spec says that it is remote."""

    @property
    def spec(self) -> JudgeSpec:
        """Who this is."""
        ...

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """One verdict or failure for each claim, in the order of the claims."""
        ...
