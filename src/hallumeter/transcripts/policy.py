"""When a page counts as hallucinated, and when a second reading of it may speak."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hallumeter.errors import TOLERANCE, check_share


class PagePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a page counts as hallucinated: so many invented words, and so large a share of what the engine wrote.

    A response of which nothing is on the page counts too, however short it is.
    """

    fewest_words: int = 5
    """Words in invented blocks and loops; fewer are a stray line, such as a stamp that the ground truth omits."""
    smallest_share: float = 0.05

    def __post_init__(self) -> None:
        check_share("smallest_share", self.smallest_share)

    def is_hallucinated(self, *, invented_words: int, words: int, is_whole: bool = False) -> bool:
        """Whether a page with so many invented words among so many is badged; both bounds themselves are.

        `is_whole` says that nothing of what the engine wrote is on the page.

        >>> PagePolicy().is_hallucinated(invented_words=6, words=80)
        True
        """
        if is_whole:
            return True
        is_large_share = invented_words >= self.smallest_share * words - TOLERANCE * words
        return invented_words >= max(self.fewest_words, 1) and is_large_share


class EnginePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When the figures of an engine are signs that it hallucinates: the bounds of Picarones' narrative."""

    largest_page_rate: float = 0.3
    """Share of its pages that hallucinate."""
    smallest_anchor: float = 0.6
    """Mean anchor score of its pages."""
    largest_ratio: float = 1.3
    """Mean length of what it wrote, in lengths of the ground truth."""

    @property
    def bounds(self) -> dict[str, tuple[float, bool]]:
        """By metric the bound, and whether more than it is a sign."""
        return {
            "hallucinating_page_rate": (self.largest_page_rate, True),
            "anchor_mean": (self.smallest_anchor, False),
            "length_ratio_mean": (self.largest_ratio, True),
        }

    def signs(self, values: Mapping[str, float | None]) -> tuple[str, ...]:
        """The metrics that lie beyond their bounds; what was not measured is no sign, nor is the bound itself.

        >>> EnginePolicy().signs({"hallucinating_page_rate": 0.31, "anchor_mean": 0.6, "length_ratio_mean": None})
        ('hallucinating_page_rate',)
        """
        found = []
        for metric, (bound, is_above) in self.bounds.items():
            value = values.get(metric)
            if value is None:
                continue
            is_beyond = value > bound + TOLERANCE if is_above else value < bound - TOLERANCE
            found += [metric] * is_beyond
        return tuple(found)


class WitnessPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a second reading of a page is sure enough to speak against what the first one wrote.

    OCR engines skip what they cannot read, so that a passage is not confirmed is no evidence by itself.
    """

    fewest_words: int = 10
    """Of the witness."""
    lowest_confidence: float = 0.8
    """Of the witness in its own reading."""
    smallest_share: float = 0.5
    """Of the engine's words that the witness has too, or else of the witness's words that the engine lacks."""
    fewest_copies: int = 6
    """Of a loop that speaks for itself: a refrain, or "ditto" in a list, comes again as well."""

    def __post_init__(self) -> None:
        check_share("lowest_confidence", self.lowest_confidence)
        check_share("smallest_share", self.smallest_share)

    def why_not(self, *, words: int, confidence: float | None, confirmed: float, contradicted: float) -> str | None:
        """Why the witness cannot speak against the engine; None when it can. The bounds themselves are good enough.

        `confirmed` is the share of the engine's words that the witness has, `contradicted` the share of the witness's
        words that the engine lacks.
        """
        # The reasons hold no numbers of the page, so that pages with the same reason can be counted together.
        if words < self.fewest_words:
            return f"the witness read fewer than {self.fewest_words} words"
        if confidence is None:
            return "the witness does not say how sure it is of its reading"
        if confidence < self.lowest_confidence - TOLERANCE:
            return f"the witness is less than {self.lowest_confidence:g} sure of its reading"
        if max(confirmed, contradicted) < self.smallest_share - TOLERANCE:
            return "the witness confirms too little of what the engine wrote, and may have skipped a part of the page"
        return None
