"""Choose a judge from what a user types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hallumeter import plugins
from hallumeter.errors import SettingsError
from hallumeter.providers.language_models import PROVIDER_FORMS, Provider

from .embedded.judge import FULL, EmbeddedJudge
from .function import FunctionJudge, function_named
from .language_model import LanguageModelJudge, LanguageModelSettings
from .protocol import Judge
from .recorded import RecordedJudge
from .rules.judge import RulesJudge

DEFAULT_JUDGE = "embedded"
JUDGE_FORMS = ("embedded", "embedded:fast", "rules", *PROVIDER_FORMS, "python:module.function", "recorded:FILE")
"""What a user can type; other packages add names, alone or as ``name:argument``, by the entry point of their judges."""
JUDGE_GROUP = "hallumeter.judges"
_LANGUAGE_MODELS = ("openai", "anthropic", "http", "https")
_OURS = ("rules", "embedded", "python", "recorded", *_LANGUAGE_MODELS)


def judge_named(
    text: str, *, provider_of: Callable[[str], Provider], settings: LanguageModelSettings | None = None
) -> Judge:
    """The judge that a text names, in one of `JUDGE_FORMS`.

    Args:
        text: What the user typed. After ``recorded:FILE`` a ``#JUDGE`` chooses one of several in the file.
        provider_of: Makes the language model that a text names, with its pace and its spending.
        settings: How a language model is asked.

    Raises:
        SettingsError: There is no such judge.
        InputError: A file of verdicts cannot be used.
    """
    kind, _, argument = text.partition(":")
    if text == "rules":
        return RulesJudge()
    if kind == "embedded":
        return EmbeddedJudge(argument or FULL)
    if kind == "python":
        return FunctionJudge(function_named(argument), name=text)
    if kind == "recorded":
        return _recorded(argument)
    brought = plugins.found(JUDGE_GROUP, ours=_OURS).get(kind)
    if brought is not None:
        return _brought(brought, argument)
    if is_language_model(text):
        return LanguageModelJudge(provider_of(text), settings)
    others = sorted(plugins.found(JUDGE_GROUP, ours=_OURS))
    raise SettingsError(f"no judge is called {text!r}; expected one of {', '.join([*JUDGE_FORMS, *others])}")


def is_language_model(text: str) -> bool:
    """Whether a text names a judge that is a language model, of ours or of another package.

    >>> is_language_model("openai:gpt-4o-mini"), is_language_model("rules")
    (True, False)
    """
    kind, colon, _ = text.partition(":")
    if not colon or kind in plugins.found(JUDGE_GROUP, ours=_OURS):
        return False
    return kind in _LANGUAGE_MODELS or kind in plugins.found("hallumeter.providers", ours=_OURS)


def _recorded(argument: str) -> Judge:
    """A file's name may itself hold the sign that stands before a judge's name."""
    if not argument:
        raise SettingsError("'recorded:' names no file; expected recorded:FILE, such as recorded:verdicts.jsonl")
    path, sign, name = argument.rpartition("#")
    if not sign or not name or Path(argument).exists():
        return RecordedJudge(argument)
    return RecordedJudge(path, name)


def _brought(plugin: plugins.Plugin, argument: str) -> Judge:
    """A judge of another package; it is made with what stands after the colon, if anything does."""
    judge: Judge = plugin(argument) if argument else plugin()
    if not hasattr(judge, "judge") or not hasattr(judge, "spec"):
        raise SettingsError(f"the plugin {plugin.name!r} of {plugin.package} made no judge; it needs judge() and spec")
    return judge
