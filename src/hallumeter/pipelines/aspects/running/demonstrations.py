"""Demonstrations: examples of the training file that agents are shown, drawn by a seed."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from hallumeter.pipelines.aspects.agents.protocol import Demonstration


class DemoPool(Struct, frozen=True):
    """All that may be shown, by language."""

    by_language: dict[str, tuple[Demonstration, ...]] = field(default_factory=dict)
    avoided: int = 0
    """Examples that were left out, since their text is that of a sentence that is read."""

    @classmethod
    def of(cls, demos: Sequence[tuple[str, Demonstration]], avoided: Iterable[str]) -> DemoPool:
        """The examples whose text is none of those to be avoided; of equal texts the first.

        >>> demos = [("en", Demonstration("a", "Good soup.", ())), ("en", Demonstration("b", "good  SOUP.", ()))]
        >>> [len(DemoPool.of(demos, texts).by_language.get("en", ())) for texts in ([], ["GOOD soup."])]
        [1, 0]
        """
        seen = {text_hash(text) for text in avoided}
        kept: dict[str, list[Demonstration]] = {}
        left_out = 0
        known: set[str] = set()
        for language, demo in demos:
            digest = text_hash(demo.text)
            left_out += digest in seen
            if digest not in seen and digest not in known:
                kept.setdefault(language, []).append(demo)
            known.add(digest)
        return cls({language: tuple(own) for language, own in kept.items()}, left_out)

    def drawn(self, count: int, *, seed: int, text_id: str, language: str) -> tuple[Demonstration, ...]:
        """Some examples in the language of a sentence: always the same for the same seed and sentence."""
        pool = self.by_language.get(language, ())
        # Seeded by text: Python hashes it the same way in every process.
        generator = random.Random(f"{seed} {text_id}")  # noqa: S311 (it chooses examples, and guards nothing)
        return tuple(generator.sample(pool, min(count, len(pool))))

    @staticmethod
    def shown(drawn: Iterable[tuple[Demonstration, ...]]) -> list[Demonstration]:
        """All that are shown to someone, each once, in the order in which they are drawn."""
        return list({demo.demo_id: demo for demos in drawn for demo in demos}.values())

    def notices(self, count: int, languages: Iterable[str]) -> list[str]:
        """What a user should know of the pool, in the languages of the sentences."""
        lines = []
        if self.avoided:
            lines.append(f"{self.avoided:,} demonstrations were left out: their texts are among the sentences to read")
        sizes = {language: len(self.by_language.get(language, ())) for language in languages}
        few = [f"{language} {size:,}" for language, size in sizes.items() if size < count]
        if few:
            lines.append(f"demo.k is {count}, and the pool has fewer: {', '.join(few)}")
        return lines


def text_hash(text: str) -> str:
    """A hash that is the same for texts which differ in case, width of letters or spaces alone.

    >>> text_hash("Good  soup") == text_hash("GOOD soup")
    True
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
