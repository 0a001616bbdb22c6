"""Choose a judge from what a user types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hallumeter import plugins
from hallumeter.claims.settings import LanguageModelSettings
from hallumeter.errors import SettingsError
from hallumeter.models.by_name import PROVIDER_FORMS, VENDORS
from hallumeter.models.protocol import Provider
from hallumeter.plugins import function_named
from hallumeter.records.judging import Judge, JudgeSpec

from .function import FunctionJudge

# Several judges at once; all their votes are kept.


class Panel:
    """Judges with different names, in the order in which they were given; one alone is a panel as well.

    Raises:
        SettingsError: There is no judge, or two have the same name: their verdicts could not be told apart.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        if not judges:
            raise SettingsError("there is no judge; give at least one")
        self.judges = tuple(judges)
        self.specs: tuple[JudgeSpec, ...] = tuple(judge.spec for judge in judges)
        """Who they are; asked for once, since a spec may take time to make."""
        twice = [name for name, count in Counter(spec.name for spec in self.specs).items() if count > 1]
        if twice:
            raise SettingsError(
                f"two judges are called {twice[0]!r}, and their verdicts could not be told apart; give each judge once"
            )

    def __len__(self) -> int:
        return len(self.judges)


def _embedded(name: str, preset: str | None = None, threshold: float | None = None) -> Judge:
    from .embedded.judge import BALANCED, FULL, EmbeddedJudge

    return EmbeddedJudge(name or FULL, preset or BALANCED, threshold)


def _rules(_: str) -> Judge:
    from .rules.judge import RulesJudge

    return RulesJudge()


def _recorded(argument: str) -> Judge:
    """A file's name may itself hold the sign that stands before a judge's name."""
    if not argument:
        raise SettingsError("'recorded:' names no file; expected recorded:FILE, such as recorded:verdicts.jsonl")
    from .recorded import RecordedJudge

    path, sign, name = argument.rpartition("#")
    if not sign or not name or Path(argument).exists():
        return RecordedJudge(argument)
    return RecordedJudge(path, name)


class _Kind(NamedTuple):
    """A kind of judges that are no language models."""

    forms: tuple[str, ...]
    """What a user can type."""
    make: Callable[..., Judge]
    """From what stands after the colon; nothing where nothing does. The judge's module is imported then."""
    has_threshold: bool = False
    """Whether its labels are a threshold on its probability, so that it is also made from a preset or a threshold."""


_KINDS = {
    "embedded": _Kind(("embedded", "embedded:fast"), _embedded, has_threshold=True),
    "rules": _Kind(("rules",), _rules),
}
"""Judges of ours, by what stands before the colon."""
_BROUGHT = {
    "python": _Kind(
        ("python:module.function",), lambda name: FunctionJudge(function_named(name), name=f"python:{name}")
    ),
    "recorded": _Kind(("recorded:FILE",), _recorded),
}
"""Judges that a user brings."""
JUDGE_FORMS = (
    *(form for kind in _KINDS.values() for form in kind.forms),
    *PROVIDER_FORMS,
    *(form for kind in _BROUGHT.values() for form in kind.forms),
)
"""What a user can type; other packages add names, alone or as ``name:argument``, by the entry point of their judges."""
JUDGE_GROUP = "hallumeter.judges"
_LANGUAGE_MODELS = (*VENDORS, "http", "https")
_OURS = (*_KINDS, *_BROUGHT, *_LANGUAGE_MODELS)


def judge_named(
    text: str,
    *,
    provider_of: Callable[[str], Provider],
    settings: LanguageModelSettings | None = None,
    preset: str | None = None,
    threshold: float | None = None,
) -> Judge:
    """The judge that a text names, in one of `JUDGE_FORMS`.

    Args:
        text: What the user typed. After ``recorded:FILE`` a ``#JUDGE`` chooses one of several in the file.
        provider_of: Makes the language model that a text names, with its pace and its spending.
        settings: How a language model is asked.
        preset: Where a judge that `has_threshold` draws the line; others do not heed it.
        threshold: The same as a probability.

    Raises:
        SettingsError: There is no such judge.
        InputError: A file of verdicts cannot be used.
    """
    kind, _, argument = text.partition(":")
    known = (_KINDS | _BROUGHT).get(kind)
    takes_argument = known is not None and any(":" in form for form in known.forms)
    if known is not None and (takes_argument or text == kind):
        return known.make(argument, preset, threshold) if known.has_threshold else known.make(argument)
    brought = plugins.found(JUDGE_GROUP, ours=_OURS).get(kind)
    if brought is not None:
        return _brought(brought, argument)
    if is_language_model(text):
        from .language_model import LanguageModelJudge

        return LanguageModelJudge(provider_of(text), settings)
    others = sorted(plugins.found(JUDGE_GROUP, ours=_OURS))
    raise SettingsError(f"no judge is called {text!r}; expected one of {', '.join([*JUDGE_FORMS, *others])}")


def has_threshold(text: str) -> bool:
    """Whether a text names a judge whose labels are a threshold on its probability, which a user may choose.

    >>> has_threshold("embedded:fast"), has_threshold("rules")
    (True, False)
    """
    known = _KINDS.get(text.partition(":")[0])
    return known is not None and known.has_threshold


def is_language_model(text: str) -> bool:
    """Whether a text names a judge that is a language model, of ours or of another package.

    >>> is_language_model("openai:gpt-4o-mini"), is_language_model("rules")
    (True, False)
    """
    kind, colon, _ = text.partition(":")
    if not colon or kind in plugins.found(JUDGE_GROUP, ours=_OURS):
        return False
    return kind in _LANGUAGE_MODELS or kind in plugins.found("hallumeter.providers", ours=_OURS)


def _brought(plugin: plugins.Plugin, argument: str) -> Judge:
    """A judge of another package; it is made with what stands after the colon, if anything does."""
    judge: Judge = plugin(argument) if argument else plugin()
    if not hasattr(judge, "judge") or not hasattr(judge, "spec"):
        raise SettingsError(f"the plugin {plugin.name!r} of {plugin.package} made no judge; it needs judge() and spec")
    return judge
