"""How words of a clinical text stand, written in words: ``bananas: against; apples: allowed``."""

from __future__ import annotations

from mentions_in_words import reader

MEANINGS = {
    "against": {"negated", "avoided"},
    "for": {"advised"},
    "allowed": {"advised", "mentioned", "asserted", "general"},
    "open": {"hypothetical", "mentioned", "general", "example", "asserted", "family"},
}
"""`against` is negated or avoided, `for` is advised, `allowed` neither of `against` nor supposed, `open` no advice."""


def check_standing(text: str, expected: str) -> None:
    """Compare how words stand with what is expected; other meanings are names of scopes."""
    read = reader().read(text)
    for each in expected.split("; "):
        words, meaning = each.rsplit(": ", 1)
        start = text.index(words)
        scope = read.scope_at(start, start + len(words)).scope
        assert scope in MEANINGS.get(meaning, {meaning}), f"{words}: {scope}"
