"""A language model as a judge: a prompt, a provider, and a reader that believes nothing unchecked."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.providers.language_models import Message, Request
from hallumeter.records import Claim, Failure, Label, Verdict

from .claim_calls import Asked, ask_about
from .claim_text import claim_text
from .instructions import CUES
from .protocol import JudgeSpec, JudgeTask
from .replies import reply_schema
from .votes import Vote, WindowReader, verdict_of
from .windows import Piece, cut_into_windows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hallumeter.providers.language_models import Provider

NO_EVIDENCE = "no_evidence"
TOO_SHORT = "too_short"
_PROMPTS = resources.files("hallumeter.judges").joinpath("prompts")
_TOKENS_OF_A_LABEL = 16
_TOKENS_AROUND = 64
_LEAST_WINDOW = 200
_MOSTLY = 0.8
"""Share of a stretch of the response that claims in its own words must cover to stand for it."""


class LanguageModelSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked."""

    claims_per_call: int = 8
    """Small models judge one claim at a time better than many; servers that cache prompts then lose little time."""
    window_characters: int = 24_000
    """How much evidence is shown at a time."""
    most_windows: int = 8
    """How many parts of longer evidence are shown, one after the other."""
    wants_quotes: bool = True
    """Ask for the words of the evidence that decide a claim, and check them; without, a call is cheaper."""
    wants_logprobs: bool = False
    """Ask for the probabilities of the labels, where the provider gives them."""
    context_characters: int = 300
    """How much of the response before the claims is shown, so that "it" and "they" can be understood."""
    tokens_per_claim: int = 160
    """Room for the reply on one claim with its quotation."""
    temperature: float | None = 0.0
    seed: int | None = 0
    repairs: int = 2
    """How often a model is told what was wrong with its reply."""

    def __post_init__(self) -> None:
        least = {
            "claims_per_call": 1,
            "window_characters": _LEAST_WINDOW,
            "most_windows": 1,
            "context_characters": 0,
            "tokens_per_claim": 1,
            "repairs": 0,
        }
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise SettingsError(f"{name} is {getattr(self, name)}; expected {bound} or more")


class LanguageModelJudge:
    """Asks a language model for a label, and checks the words that it quotes.

    It may be called from several threads at once if its provider may.
    """

    def __init__(self, provider: Provider, settings: LanguageModelSettings | None = None) -> None:
        self._provider = provider
        self._settings = settings or LanguageModelSettings()
        self._prompt = system_prompt(wants_quotes=self._settings.wants_quotes)
        self._spec = self._described()

    @property
    def spec(self) -> JudgeSpec:
        """The model, with everything that could change a verdict."""
        return self._spec

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """One verdict or failure for each claim.

        Without evidence there is nothing to ask: NOT_ENOUGH_INFO for `no_evidence`. A claim without words is UNDECIDED.

        Raises:
            ProviderFault: Every further call would meet the same.
        """
        if not any(passage.text.strip() for passage in task.response.evidence):
            return [self._unasked(claim, Label.NOT_ENOUGH_INFO, NO_EVIDENCE) for claim in task.claims]
        texts = {number: claim_text(claim, task.response) for number, claim in enumerate(task.claims, 1)}
        asked = self._judged(task, {number: text for number, text in texts.items() if text.strip()})
        return [
            asked[number] if number in asked else self._unasked(claim, Label.UNDECIDED, TOO_SHORT)
            for number, claim in enumerate(task.claims, 1)
        ]

    def _judged(self, task: JudgeTask, claims: Mapping[int, str]) -> dict[int, Verdict | Failure]:
        """Show the evidence window by window; a claim on which one window gave nothing has failed."""
        windows = cut_into_windows(
            task.response.evidence,
            claims.values(),
            window_characters=self._settings.window_characters,
            most_windows=self._settings.most_windows,
        )
        votes: dict[int, list[Vote]] = {number: [] for number in claims}
        failures: dict[int, Failure] = {}
        cost_usd: float | None = 0.0
        for pieces in windows.shown:
            waiting = {number: text for number, text in claims.items() if number not in failures}
            if not waiting:
                break
            asked = self._ask(task, waiting, pieces)
            cost_usd = None if cost_usd is None or asked.cost_usd is None else cost_usd + asked.cost_usd
            reader = WindowReader(pieces, wants_quotes=self._settings.wants_quotes)
            for number in waiting:
                if (reply := asked.claims.get(number)) is not None:
                    votes[number].append(reader.vote(reply, asked.probabilities.get(number)))
                else:
                    failures[number] = self._failure(task.claims[number - 1], number, asked)
        share = None if cost_usd is None else cost_usd / max(1, len(claims))
        verdicts = {
            number: verdict_of(task.claims[number - 1], votes[number], windows, judge=self._spec.name, cost_usd=share)
            for number in claims
            if number not in failures
        }
        return {**verdicts, **failures}

    def _ask(self, task: JudgeTask, claims: Mapping[int, str], pieces: Sequence[Piece]) -> Asked:
        settings = self._settings
        each = settings.tokens_per_claim if settings.wants_quotes else _TOKENS_OF_A_LABEL
        excerpt = _excerpt(task, settings.context_characters)
        request = Request(
            messages=(
                Message("system", self._prompt),
                Message("user", user_message(pieces, claims, question=task.response.question, excerpt=excerpt)),
            ),
            max_tokens=_TOKENS_AROUND + each * len(claims),
            temperature=settings.temperature,
            seed=settings.seed,
            wants_logprobs=settings.wants_logprobs,
        )
        return ask_about(
            self._provider, request, claims.keys(), wants_quotes=settings.wants_quotes, repairs=settings.repairs
        )

    def _failure(self, claim: Claim, number: int, asked: Asked) -> Failure:
        fault = asked.fault
        return Failure(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            step="judge",
            judge=self._spec.name,
            code="malformed_reply" if fault is None else fault.code,
            message=f"no usable reply: {asked.problems[number]}" if fault is None else fault.message,
            attempts=asked.attempts,
        )

    def _unasked(self, claim: Claim, label: Label, reason: str) -> Verdict:
        return Verdict(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            judge=self._spec.name,
            label=label,
            reason=reason,
            start=claim.start,
            end=claim.end,
            cost_usd=0.0,
        )

    def _described(self) -> JudgeSpec:
        settings, provider = self._settings, self._provider.spec
        schema = msgspec.json.encode(reply_schema([1], wants_quotes=settings.wants_quotes))
        written = hashlib.blake2b(self._prompt.encode() + schema + CUES.read_bytes(), digest_size=6).hexdigest()
        described = {
            "prompt": written,
            "quotes": "checked" if settings.wants_quotes else "none",
            "windows": f"{settings.most_windows}x{settings.window_characters}",
            "context": str(settings.context_characters),
            "temperature": str(settings.temperature),
            "seed": str(settings.seed),
            "logprobs": "yes" if settings.wants_logprobs else "no",
            "tokens": str(settings.tokens_per_claim),
            "repairs": str(settings.repairs),
            **dict(sorted(provider.settings.items())),
        }
        return JudgeSpec(
            name=provider.name,
            settings=tuple(described.items()),
            claims_per_task=settings.claims_per_call,
            is_remote=True,
        )


@cache
def system_prompt(*, wants_quotes: bool) -> str:
    """What the model is told before it sees anything of the user's."""
    reply = "reply_with_quotes.txt" if wants_quotes else "reply_with_labels.txt"
    parts = [_PROMPTS.joinpath(name).read_text(encoding="utf-8").strip() for name in ("verify_claims.txt", reply)]
    return "\n".join(parts)


def user_message(
    pieces: Sequence[Piece], claims: Mapping[int, str], *, question: str | None = None, excerpt: str | None = None
) -> str:
    r"""Evidence and claims as one JSON object, so that no text can end the field in which it stands.

    The evidence comes first: servers that keep what they have read need not read it again for the next claims.

    >>> from hallumeter.records import Passage
    >>> user_message([Piece(Passage("a.txt", 'He said "}]".'), 0, 13)], {1: "He spoke."})
    '{"evidence":[{"id":1,"text":"He said \\"}]\\"."}],"claims":[{"number":1,"text":"He spoke."}]}'
    """
    message: dict[str, object] = {
        "evidence": [{"id": number, "text": _sendable(piece.text)} for number, piece in enumerate(pieces, 1)]
    }
    if question:
        message["question"] = _sendable(question)
    if excerpt:
        message["response_excerpt"] = _sendable(excerpt)
    message["claims"] = [{"number": number, "text": _sendable(text)} for number, text in claims.items()]
    return msgspec.json.encode(message).decode()


def _sendable(text: str) -> str:
    """A text without halves of characters, as broken files have them: JSON cannot hold those."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _excerpt(task: JudgeTask, context: int) -> str | None:
    """The part of the response that claims are read in; None when they need none.

    Claims that are the response's own sentences stand for it themselves, so that only what comes before them is given.
    """
    response = task.response.response or ""
    placed = [claim for claim in task.claims if claim.start is not None]
    spans = [(claim.start or 0, claim.end or 0) for claim in placed]
    if not response or not context:
        return None
    if not spans:
        return response[: 4 * context]
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    verbatim = sum(
        end - start for claim, (start, end) in zip(placed, spans, strict=True) if _is_verbatim(claim, response)
    )
    is_covered = verbatim >= _MOSTLY * (last - first)
    return response[max(0, first - context) : first if is_covered else last].strip() or None


def _is_verbatim(claim: Claim, response: str) -> bool:
    return claim.text is None or response[claim.start : claim.end] == claim.text
