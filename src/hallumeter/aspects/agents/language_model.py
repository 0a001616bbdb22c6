"""A language model as an agent: a prompt, a closed form, and a reader that believes nothing unchecked."""

from __future__ import annotations

import hashlib
import time
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from hallumeter.aspects.records.aspect import POLARITIES
from hallumeter.aspects.records.outputs import CallUsage
from hallumeter.errors import InputError, SettingsError
from hallumeter.models.protocol import Message, Provider, ProviderFault, Reply, ReplySchema, Request, Usage

from .protocol import ANSWERS, AgentFault, AgentReply, AgentTask, Role, user_message
from .replies import UnusableReply, read_reply

# The prompts of the agents: text files in Korean and English, which a user may replace by files of their own.

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


# The form in which each role is asked to reply, closed and with every field required.
#
# The strictest providers take nothing else: no further fields, none that may be absent, no open maps. What may be
# missing is null.

Schema = dict[str, object]
EDITS = ("set_polarity", "set_aspect_ref", "merge_tuples", "drop_tuple", "confirm_tuple")
PROPOSALS = ("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN")
RISKS = ("NEGATION", "CONTRAST", "IRONY")
ASPECT_ACTIONS = ("keep", "revise_span", "drop", "add")
SENTIMENT_ACTIONS = ("maintain", "flip_polarity", "drop", "add")


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def _perhaps(schema: Schema) -> Schema:
    """The same, or null."""
    if schema["type"] == "object":
        return {"anyOf": [schema, {"type": "null"}]}
    closed: Schema = {**schema, "type": [schema["type"], "null"]}
    if isinstance(words := schema.get("enum"), list):
        closed["enum"] = [*words, None]
    return closed


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_WHETHER: Schema = {"type": "boolean"}
_SPAN = _object(start={"type": "integer"}, end={"type": "integer"})
_POLARITY = _one_of(*POLARITIES)
_ASPECT = _object(
    term=_TEXT,
    span=_SPAN,
    confidence=_NUMBER,
    rationale=_TEXT,
    normalized=_perhaps(_TEXT),
    syntactic_head=_perhaps(_TEXT),
)
_SENTIMENT = _object(
    aspect_term=_perhaps(_object(term=_TEXT, span=_SPAN)),
    polarity=_perhaps(_POLARITY),
    confidence=_NUMBER,
    evidence=_perhaps(_TEXT),
    polarity_distribution=_object(positive=_NUMBER, negative=_NUMBER, neutral=_NUMBER),
    is_implicit=_WHETHER,
)
_RISK = _object(type=_one_of(*RISKS), scope=_SPAN, severity=_one_of("high", "medium", "low"), description=_TEXT)
_PROPOSAL = _object(
    target_aspect=_TEXT,
    proposal_type=_one_of(*PROPOSALS),
    rationale=_TEXT,
    revised_span=_perhaps(_SPAN),
    confidence=_NUMBER,
)
_EDIT = _object(
    op=_one_of(*EDITS),
    target=_object(aspect_ref=_perhaps(_TEXT), aspect_term=_perhaps(_TEXT), polarity=_perhaps(_POLARITY)),
    value=_perhaps(_TEXT),
    evidence=_perhaps(_TEXT),
    confidence=_NUMBER,
)
_TUPLE = _object(aspect_term=_TEXT, aspect_ref=_perhaps(_TEXT), polarity=_perhaps(_POLARITY))
_VALIDATION = {
    "structural_risks": _list(_RISK),
    "correction_proposals": _list(_PROPOSAL),
    "consistency_score": _NUMBER,
}
_SUMMARY = _object(
    final_patch=_list(_EDIT),
    final_tuples=_list(_TUPLE),
    sentence_polarity=_one_of(*POLARITIES, "mixed"),
    sentence_evidence_spans=_list(_TEXT),
    aspect_evidence=_list(_object(aspect_term=_TEXT, evidence=_TEXT)),
    unresolved_conflicts=_list(_TEXT),
    rationale=_TEXT,
)
_ASPECT_REVIEW = _object(
    aspect_review=_list(
        _object(term=_TEXT, action=_one_of(*ASPECT_ACTIONS), revised_span=_perhaps(_SPAN), reason=_TEXT)
    )
)
_SENTIMENT_REVIEW = _object(
    sentiment_review=_list(
        _object(
            aspect_term=_TEXT,
            action=_one_of(*SENTIMENT_ACTIONS),
            revised_polarity=_perhaps(_POLARITY),
            reason=_TEXT,
        )
    )
)
_STRUCTURAL_REVIEW = _object(
    **_VALIDATION,
    final_validation=_object(
        resolved_risks=_list(_TEXT), remaining_risks=_list(_TEXT), final_consistency_score=_perhaps(_NUMBER)
    ),
)
_TURN = _object(proposed_edits=_list(_EDIT))
_SCHEMAS: dict[Role, Schema] = {
    "ate": _object(aspects=_list(_ASPECT)),
    "atsa": _object(aspect_sentiments=_list(_SENTIMENT)),
    "validator": _object(**_VALIDATION),
    "epm": _TURN,
    "tan": _TURN,
    "cj": _TURN,
    "debate_summary": _SUMMARY,
    "ate_review": _ASPECT_REVIEW,
    "atsa_review": _SENTIMENT_REVIEW,
    "validator_review": _STRUCTURAL_REVIEW,
}


@cache
def reply_schema(role: Role) -> ReplySchema:
    """The form of a role's reply, as a JSON Schema of an object.

    >>> reply_schema("ate_review").schema["required"]
    ['aspect_review']
    """
    return ReplySchema(f"{role}_reply", _SCHEMAS[role])


UNUSABLE_REPLY = "unusable_reply"
_MOST_OF_A_BAD_REPLY = 4_000
"""Characters of a reply that a model is shown again."""
_MOST_TOKENS_TIMES = 4
"""How far the room of a reply may grow while it is cut off."""
_CUT_OFF = "it ended before it was complete"
_Number = TypeVar("_Number", int, float)


class LanguageModelSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked."""

    temperature: float | None = 0.0
    """None leaves it to the provider."""
    max_tokens: int = 2_048
    repairs: int = 2
    """How often a model is told what was wrong with its reply."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise SettingsError(f"max_tokens is {self.max_tokens}; expected 1 or more")
        if not 0 <= self.repairs <= 2:
            raise SettingsError(f"repairs is {self.repairs}; expected 0, 1 or 2")


class LanguageModelAgent:
    """Asks a language model in any role.

    It may be called from several threads at once if its provider may.
    """

    def __init__(
        self, provider: Provider, prompts: Prompts | None = None, settings: LanguageModelSettings | None = None
    ) -> None:
        self._provider = provider
        self._prompts = prompts or shipped_prompts()
        self._settings = settings or LanguageModelSettings()

    @property
    def spec(self) -> str:
        """The model, with everything that could change an answer."""
        settings, provider = self._settings, self._provider.spec
        described = {
            "prompts": self._prompts.prompts_digest(),
            "temperature": str(settings.temperature),
            "max_tokens": str(settings.max_tokens),
            "repairs": str(settings.repairs),
            **dict(sorted(provider.settings.items())),
        }
        return ";".join([provider.name, *(f"{name}={value}" for name, value in described.items())])

    def answer(self, task: AgentTask) -> AgentReply:
        """Ask, and ask again with what was wrong while the reply cannot be used.

        Raises:
            AgentFault: There is no usable answer: ``unusable_reply``, or the code of the provider's fault.
            ProviderFault: Every further call would meet the same.
        """
        conversation = _Conversation(self._provider, self._first(task))
        for _ in range(1 + self._settings.repairs):
            text = conversation.said()
            if text is None:
                continue
            try:
                read = read_reply(text, task.role, task.text)
            except UnusableReply as problem:
                conversation.refuse(str(problem), self._prompts, task.language)
                continue
            return AgentReply(
                answer=read.answer, usage=conversation.usage, raw=text, notes=(*conversation.notes, *read.notes)
            )
        raise conversation.fault()

    def _first(self, task: AgentTask) -> Request:
        return Request(
            messages=(
                Message("system", self._prompts.system(task.role, task.language)),
                Message("user", user_message(task)),
            ),
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.temperature,
            seed=task.seed,
            reply_schema=reply_schema(task.role),
        )


class _Conversation:
    """All calls that one answer takes."""

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._first = self._request = request
        self._reply: Reply | None = None
        self._fault: ProviderFault | None = None
        self._problem = ""
        self._text = ""
        self._attempts = 0
        self.usage = CallUsage(tokens_in=0, tokens_out=0, cost_usd=0.0, latency_ms=0.0)
        self.notes: list[str] = []

    def said(self) -> str | None:
        """What the model replies; None when it replied with nothing, which more room may mend.

        Raises:
            AgentFault: The provider has no reply.
            ProviderFault: Nor will it ever have one.
        """
        started = time.perf_counter()
        self._fault = None
        try:
            reply = self._provider.complete(self._request)
        except ProviderFault as fault:
            if fault.is_fatal:
                raise
            self._fault = fault
            self._attempts += fault.attempts
            self._count(fault.usage, None, started=started, retries=fault.attempts - 1)
            if fault.code != "empty_reply":
                raise self.fault() from fault
            self._widen()
            return None
        self._attempts += 1
        cost_of = getattr(self._provider, "cost_of", None)
        self._count(reply.usage, None if cost_of is None else cost_of(reply), started=started)
        self._reply = reply
        self._text = reply.completions[0].text if reply.completions else ""
        return self._text

    def refuse(self, problem: str, prompts: Prompts, language: str) -> None:
        """Prepare to ask again, with what was wrong; a reply that was cut off is given more room."""
        assert self._reply is not None
        is_cut_off = bool(self._reply.completions) and self._reply.completions[0].finish == "length"
        self._problem = _CUT_OFF if is_cut_off else problem
        self.notes.append(f"refused_reply:{self._problem}")
        shown = Message("assistant", self._text[:_MOST_OF_A_BAD_REPLY] or "(nothing)")
        text = Message("user", prompts.repair(self._problem, language))
        self._request = msgspec.structs.replace(self._request, messages=(*self._first.messages, shown, text))
        if is_cut_off:
            self._widen()

    def fault(self) -> AgentFault:
        """Why there is no answer."""
        if self._fault is not None:
            code, message = self._fault.code, self._fault.message
        else:
            code, message = UNUSABLE_REPLY, f"no usable reply: {self._problem}"
        return AgentFault(code, message, usage=self.usage, attempts=self._attempts, raw=self._text or None)

    def _widen(self) -> None:
        room = min(2 * self._request.max_tokens, _MOST_TOKENS_TIMES * self._first.max_tokens)
        self._request = msgspec.structs.replace(self._request, max_tokens=room)

    def _count(self, usage: Usage | None, cost_usd: float | None, *, started: float, retries: int = 0) -> None:
        so_far, paid = self.usage, usage or Usage()
        self.usage = CallUsage(
            calls=so_far.calls + 1,
            retries=so_far.retries + retries,
            repairs=so_far.calls,
            tokens_in=_sum(so_far.tokens_in, paid.input_tokens),
            tokens_out=_sum(so_far.tokens_out, paid.output_tokens),
            cost_usd=_sum(so_far.cost_usd, cost_usd),
            latency_ms=_sum(so_far.latency_ms, 1_000 * (time.perf_counter() - started)),
        )


def _sum(known: _Number | None, more: _Number | None) -> _Number | None:
    """Both together; None when one of them is not known."""
    return None if known is None or more is None else known + more
