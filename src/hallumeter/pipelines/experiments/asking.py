"""Asking until all is answered, somebody wants it to stop, or the money is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hallumeter.errors import SettingsError
from hallumeter.pipelines.audit.entries import Means
from hallumeter.providers.language_models import ProviderFault
from hallumeter.runner import BudgetReached, Interrupted

Stopped = Literal["interrupted", "budget"]
"""Why a run stopped before its end."""


def asked_to_the_end(ask: Callable[[], bool], means: Means) -> Stopped | None:
    """Ask all that is left, which is False when it was stopped; says why it ended early, and keeps what was spent."""
    means.resume_spending()
    try:
        return None if ask() else "interrupted"
    except Interrupted:
        return "interrupted"
    except BudgetReached:
        return "budget"
    except ProviderFault as fault:
        kept = means.journal.path.parent
        raise SettingsError(
            f"{fault.message}; what was answered is kept in {kept}: mend it and give the same command again"
        ) from None
    finally:
        means.note_spending()
