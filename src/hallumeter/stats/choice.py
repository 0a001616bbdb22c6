"""Choices without chance: the same seed, text and kind choose the same, in whatever order texts come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

from msgspec import Struct

Option = TypeVar("Option")


class Choice(Struct, frozen=True):
    """What choices depend on."""

    seed: int
    text: str
    kind: str

    def ordered(self, options: Sequence[Option], about: str = "") -> Iterator[Option]:
        """All options, beginning with the chosen one; `about` tells choices of one text and kind apart.

        >>> len(list(Choice(0, "A claim.", "number").ordered([1, 2, 3])))
        3
        """
        if not options:
            return
        named = "\0".join((str(self.seed), self.kind, about, self.text)).encode("utf-8", "surrogatepass")
        first = int.from_bytes(blake2b(named, digest_size=8).digest(), "big") % len(options)
        for place in range(len(options)):
            yield options[(first + place) % len(options)]
