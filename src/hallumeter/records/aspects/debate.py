"""The debate between the stages: patches that correctors propose, and what stage 2 is told of them."""

from msgspec import Struct, field

from .aspect import AspectTuple


class EditTarget(Struct, frozen=True, omit_defaults=True):
    """What an edit is about."""

    aspect_ref: str | None = None
    aspect_term: str | None = None
    polarity: str | None = None


class ProposedEdit(Struct, frozen=True, omit_defaults=True):
    """One patch."""

    op: str
    """``set_polarity``, ``set_aspect_ref``, ``merge_tuples``, ``drop_tuple`` or ``confirm_tuple``."""
    target: EditTarget = EditTarget()
    value: str | None = None
    evidence: str | None = None
    confidence: float | None = None


class DebateTurn(Struct, frozen=True, omit_defaults=True):
    """What one speaker says."""

    agent: str = ""
    """``epm``, ``tan`` or ``cj``."""
    proposed_edits: tuple[ProposedEdit, ...] = ()
    speaker: str | None = None
    """As debates without edits name the agent."""
    stance: str | None = None
    message: str | None = None
    key_points: tuple[str, ...] = ()
    planning: str | None = None
    reflection: str | None = None

    @property
    def name(self) -> str:
        """Who speaks."""
        return self.agent or self.speaker or ""


class DebateRound(Struct, frozen=True):
    """One round of turns."""

    round_index: int
    turns: tuple[DebateTurn, ...] = ()


class DebateSummary(Struct, frozen=True, omit_defaults=True):
    """What the debate came to."""

    final_patch: tuple[ProposedEdit, ...] = ()
    final_tuples: tuple[AspectTuple, ...] = ()
    sentence_polarity: str | None = None
    sentence_evidence_spans: tuple[str, ...] = ()
    """Words of the text; at least one must stand in it."""
    unresolved_conflicts: tuple[str, ...] = ()
    aspect_evidence: dict[str, str] = field(default_factory=dict)
    rationale: str | None = None
    consensus: str | None = None
    winner: str | None = None
    key_agreements: tuple[str, ...] = ()
    key_disagreements: tuple[str, ...] = ()


class DebateOutput(Struct, frozen=True):
    """A whole debate."""

    rounds: tuple[DebateRound, ...] = ()
    summary: DebateSummary | None = None
    topic: str | None = None
    personas: dict[str, str] = field(default_factory=dict)


class AspectHint(Struct, frozen=True):
    """What one speaker lets expect of an aspect."""

    speaker: str
    stance: str
    weight: float
    polarity_hint: str | None = None
    is_drop: bool = False
    """Whether the speaker wants the tuple removed, which says nothing about its polarity."""


class RebuttalPoint(Struct, frozen=True):
    """A turn of the debate, mapped to the aspects that it speaks about."""

    speaker: str
    stance: str
    aspect_terms: tuple[str, ...] = ()
    mapping_confidence: str = "none"
    """``direct``, ``fallback`` or ``none``."""
    mapping_fail_reason: str | None = None
    weight: float = 0.0
    polarity_hint: str | None = None
    provenance_hint: str | None = None
    """``source:<speaker>/<stance>``."""
    proposed_edits: tuple[ProposedEdit, ...] = ()


class MappingStats(Struct, frozen=True):
    """How turns were mapped to aspects."""

    direct: int = 0
    fallback: int = 0
    none: int = 0

    @property
    def total(self) -> int:
        """All turns."""
        return self.direct + self.fallback + self.none

    @property
    def coverage(self) -> float | None:
        """Share of turns that speak about a known aspect; None without turns.

        >>> MappingStats(2, 1, 1).coverage, MappingStats().coverage
        (0.75, None)
        """
        return (self.direct + self.fallback) / self.total if self.total else None


class AspectMapping(Struct, frozen=True):
    """Which key of a normalized term stands for which aspect."""

    key: str
    aspect_term: str


class ReviewContext(Struct, frozen=True):
    """What stage 2 is told of the debate."""

    summary: DebateSummary | None = None
    aspect_terms: tuple[str, ...] = ()
    synonym_hints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rebuttal_points: tuple[RebuttalPoint, ...] = ()
    aspect_map: tuple[AspectMapping, ...] = ()
    aspect_hints: dict[str, tuple[AspectHint, ...]] = field(default_factory=dict)
    mapping_stats: MappingStats = MappingStats()
    mapping_coverage: float | None = None
    mapping_fail_reasons: dict[str, int] = field(default_factory=dict)
    guidance: tuple[str, ...] = ()
