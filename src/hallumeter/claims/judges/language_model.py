"""A language model as a judge: a prompt, a provider, a reader that believes nothing unchecked, and one verdict."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.claims.settings import LanguageModelSettings
from hallumeter.models.instructions import CUES, instruction_spans
from hallumeter.models.protocol import Message, ProviderFault, Request
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import GIVES_INSTRUCTIONS, JudgeSpec, JudgeTask, claim_text
from hallumeter.records.response import Quote
from hallumeter.run.sharing import run_secret

from .replies import (
    OUTCOMES,
    ClaimReply,
    Piece,
    cut_into_windows,
    find_quote,
    label_probabilities,
    read_reply,
    repair_message,
    reply_schema,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hallumeter.models.protocol import Provider, Reply

    from .replies import ClaimReply, Piece, Windows


# Asking a language model about claims, and asking again for what its reply lacks.

_MOST_OF_A_BAD_REPLY = 4_000
"""Characters of a reply that a model is shown again."""


class Asked(Struct, frozen=True):
    """What a model said of claims, over all calls that it took."""

    claims: dict[int, ClaimReply]
    """By the number of the claim; those without a usable verdict are absent."""
    probabilities: dict[int, tuple[float, ...]]
    """Over the three outcomes, where the provider gives what it takes."""
    cost_usd: float | None
    """Of all calls; None when one of them has no known price."""
    attempts: int
    """How often the model was asked, repetitions of the provider included."""
    fault: ProviderFault | None = None
    """Why the last call gave nothing at all."""
    problems: dict[int, str] = {}
    """What was wrong with the last reply, by the number of the claim."""


def ask_about(
    provider: Provider, request: Request, numbers: Collection[int], *, wants_quotes: bool, repairs: int
) -> Asked:
    """Ask about the claims of these numbers; a reply that lacks some is answered with what was wrong with it.

    A model that ran out of tokens is given twice as many.

    Raises:
        ProviderFault: Every further call would meet the same.
    """
    missing = set(numbers)
    asked = Asked({}, {}, 0.0, 0)
    messages, max_tokens = request.messages, request.max_tokens
    for _ in range(1 + repairs):
        schema = reply_schema(missing, wants_quotes=wants_quotes)
        call = msgspec.structs.replace(request, messages=messages, max_tokens=max_tokens, reply_schema=schema)
        try:
            reply = provider.complete(call)
        except ProviderFault as fault:
            asked = _after_fault(asked, fault)
            if fault.code != "empty_reply":
                break
            max_tokens *= 2  # what thinks before it writes may have thought too long
            continue
        text, is_cut_off = _text_of(reply)
        asked = _after_reply(asked, reply, missing, cost_usd=_cost_of(provider, reply))
        missing -= asked.claims.keys()
        if not missing:
            break
        said = repair_message(asked.problems, is_cut_off=is_cut_off)
        shown = Message("assistant", text[:_MOST_OF_A_BAD_REPLY] or "(nothing)")
        messages = (*request.messages, shown, Message("user", said))
        max_tokens *= 2 if is_cut_off else 1
    return asked


def _after_fault(asked: Asked, fault: ProviderFault) -> Asked:
    if fault.is_fatal:
        raise fault
    return msgspec.structs.replace(asked, fault=fault, attempts=asked.attempts + fault.attempts)


def _after_reply(asked: Asked, reply: Reply, missing: Collection[int], *, cost_usd: float | None) -> Asked:
    read = read_reply(_text_of(reply)[0], missing)
    tokens = reply.completions[0].logprobs if reply.completions else None
    distributions = label_probabilities(tokens) if tokens else []
    if len(distributions) != len(read.order):  # what belongs to which claim is not certain
        distributions = []
    known = {number: found for number, found in zip(read.order, distributions, strict=False) if found is not None}
    return Asked(
        claims={**asked.claims, **read.claims},
        probabilities={**asked.probabilities, **known},
        cost_usd=None if cost_usd is None or asked.cost_usd is None else asked.cost_usd + cost_usd,
        attempts=asked.attempts + 1,
        problems=read.problems,
    )


def _text_of(reply: Reply) -> tuple[str, bool]:
    """The text of a reply, and whether it was cut off."""
    if not reply.completions:
        return "", False
    return reply.completions[0].text, reply.completions[0].finish == "length"


def _cost_of(provider: Provider, reply: Reply) -> float | None:
    cost_of = getattr(provider, "cost_of", None)
    return None if cost_of is None else cost_of(reply)


NO_EVIDENCE = "no_evidence"
TOO_SHORT = "too_short"
_PROMPTS = resources.files("hallumeter.claims.judges").joinpath("prompts")
_TOKENS_OF_A_LABEL = 16
_TOKENS_AROUND = 64
_SECRET = secrets.token_bytes(32)
"""From which the tokens around evidence are made; nobody who writes evidence can know it, and it is kept nowhere."""
_MOSTLY = 0.8
"""Share of a stretch of the response that claims in its own words must cover to stand for it."""


class LanguageModelJudge:
    """Asks a language model for a label, and checks the words that it quotes.

    It may be called from several threads at once if its provider may.
    """

    def __init__(self, provider: Provider, settings: LanguageModelSettings | None = None) -> None:
        self._provider = provider
        self._settings = settings or LanguageModelSettings()
        self._prompt = system_prompt(wants_quotes=self._settings.wants_quotes)
        self._spec = self._described()
        # Another worker that does the same shard again must ask in the same words, to find what was paid for.
        self._secret = run_secret() or _SECRET

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
        question = task.response.question
        message = user_message(pieces, claims, question=question, excerpt=excerpt, secret=self._secret)
        request = Request(
            messages=(Message("system", self._prompt), Message("user", message)),
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
    pieces: Sequence[Piece],
    claims: Mapping[int, str],
    *,
    question: str | None = None,
    excerpt: str | None = None,
    secret: bytes = _SECRET,
) -> str:
    r"""Evidence and claims as one JSON object, so that no text can end the field in which it stands.

    A model does not parse JSON as a program does, and may take words of the evidence for its end. So the evidence also
    stands between two tokens that it cannot know. The evidence comes first, and has the same token in each call:
    servers that keep what they have read need not read it again for the next claims.

    >>> from hallumeter.records.response import Passage
    >>> message = user_message([Piece(Passage("a.txt", 'He said "}]".'), 0, 13)], {1: "He spoke."})
    >>> message.replace(msgspec.json.decode(message)["evidence_ends"], "TOKEN")[:90]
    '{"evidence_begins":"TOKEN","evidence":[{"id":1,"text":"He said \\"}]\\"."}],"evidence_ends":'
    """
    evidence = [{"id": number, "text": _sendable(piece.text)} for number, piece in enumerate(pieces, 1)]
    token = hashlib.blake2b(msgspec.json.encode(evidence), key=secret, digest_size=12).hexdigest()
    message: dict[str, object] = {"evidence_begins": token, "evidence": evidence, "evidence_ends": token}
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


# From what a model said of a claim, window by window, to one verdict.

QUOTE_NOT_FOUND = "quote_not_found"
INSTRUCTION_IN_EVIDENCE = "instruction_in_evidence"
WINDOWS_DISAGREE = "windows_disagree"
EVIDENCE_CUT = "evidence_cut"
UNCERTAIN = "uncertain"


class Vote(Struct, frozen=True):
    """What is left, after checking, of what a model said of a claim on seeing one window."""

    label: Label
    reason: str | None = None
    quotes: tuple[Quote, ...] = ()
    note: str | None = None
    probabilities: tuple[float, ...] | None = None

    @property
    def confidence(self) -> float | None:
        """The probability of the label, where it is known."""
        if self.probabilities is None or self.label not in OUTCOMES:
            return None
        return self.probabilities[OUTCOMES.index(self.label)]


class WindowReader:
    """Checks what a model said against the window that it was shown."""

    def __init__(self, pieces: Sequence[Piece], *, wants_quotes: bool) -> None:
        self._pieces = pieces
        self._wants_quotes = wants_quotes
        self._instructions = {
            (piece.passage.evidence_id, *span)
            for piece in pieces
            for span in instruction_spans(piece.text, offset=piece.start)
        }

    def vote(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        """A reply as a vote; a label that nothing in the evidence bears out becomes UNDECIDED.

        Evidence that gives the judge instructions is named in the note, whatever became of the label.
        """
        vote = self._checked(reply, probabilities)
        if not self._instructions or vote.reason == INSTRUCTION_IN_EVIDENCE:
            return vote
        return structs.replace(vote, note="; ".join(filter(None, (vote.note, GIVES_INSTRUCTIONS))))

    def _checked(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        if reply.label is Label.UNDECIDED:
            return Vote(Label.UNDECIDED, UNCERTAIN, note=reply.note)
        if reply.label is Label.NOT_ENOUGH_INFO:
            return Vote(reply.label, note=reply.note, probabilities=probabilities)
        if self._wants_quotes:
            return self._quoted_vote(reply, probabilities)
        if self._instructions:  # there is no telling whether the label was dictated
            return Vote(Label.UNDECIDED, INSTRUCTION_IN_EVIDENCE, note="the evidence speaks to the judge")
        return Vote(reply.label, note=reply.note, probabilities=probabilities)

    def _quoted_vote(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        named = None if reply.evidence_id is None else reply.evidence_id - 1
        quote = find_quote(reply.quote or "", self._pieces, first=named)
        if quote is None:
            said = f"the evidence does not say: {reply.quote}" if reply.quote else "nothing was quoted"
            return Vote(Label.UNDECIDED, QUOTE_NOT_FOUND, note=f"{reply.label.value}, but {said}")
        if self._is_instruction(quote):
            return Vote(Label.UNDECIDED, INSTRUCTION_IN_EVIDENCE, (quote,), "the quoted words speak to the judge")
        return Vote(reply.label, None, (quote,), reply.note, probabilities)

    def _is_instruction(self, quote: Quote) -> bool:
        assert quote.start is not None
        assert quote.end is not None
        return any(
            evidence_id == quote.evidence_id and start < quote.end and end > quote.start
            for evidence_id, start, end in self._instructions
        )


def verdict_of(claim: Claim, votes: Sequence[Vote], windows: Windows, *, judge: str, cost_usd: float | None) -> Verdict:
    """One verdict from the votes of all windows that were seen.

    Support in one window and refutation in none is support, and the other way round; both are `windows_disagree`.
    Where neither is, the evidence is silent only if all of it was seen.
    """
    vote = _together(votes, is_whole=windows.is_whole)
    notes = [vote.note, None if windows.is_whole else windows.in_words]
    probabilities = vote.probabilities if vote.label in OUTCOMES else None
    return Verdict(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        judge=judge,
        label=vote.label,
        unsupported_probability=None if probabilities is None else 1 - probabilities[0],
        reason=vote.reason,
        start=claim.start,
        end=claim.end,
        evidence=vote.quotes,
        note="; ".join(note for note in notes if note) or None,
        cost_usd=cost_usd,
        confidence=vote.confidence,
        probabilities=probabilities,
    )


def _together(votes: Sequence[Vote], *, is_whole: bool) -> Vote:
    deciding = [vote for vote in votes if vote.label in (Label.SUPPORTED, Label.REFUTED)]
    if len({vote.label for vote in deciding}) > 1:
        quotes = tuple(quote for vote in deciding for quote in vote.quotes)
        return Vote(Label.UNDECIDED, WINDOWS_DISAGREE, quotes, "some windows support the claim and others refute it")
    if deciding:
        return max(deciding, key=lambda vote: vote.confidence or 0)
    undecided = [vote for vote in votes if vote.label is Label.UNDECIDED]
    if undecided:
        return undecided[0]
    if not is_whole:
        return Vote(Label.UNDECIDED, EVIDENCE_CUT)
    # That all windows are silent is as sure as the least sure of them.
    return min(votes, key=lambda vote: 1 if vote.confidence is None else vote.confidence)
