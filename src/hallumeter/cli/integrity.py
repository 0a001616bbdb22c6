"""`hallumeter integrity`: pathological cases in, what an evaluator made of them out."""

from __future__ import annotations

import click

from .experiments import UNMEASURED
from .parameters import form_option, option, quiet_option

EXIT_DISHONEST = 1


@click.command()
@option("--python", "function", metavar="MODULE:FUNCTION", help="A function of yours, also from this folder.")
@option("--judge", metavar="JUDGE", help="One of our judges, as `hallumeter audit --judge` takes it.")
@option("--case", "cases", multiple=True, metavar="NAME", help="Only this case; repeat for several.")
@option("--timeout", type=float, default=120, metavar="SECONDS", help="Of one call.")
@form_option
@quiet_option
def integrity(function: str | None, judge: str | None, **options: object) -> None:
    """Ask any evaluator about the cases that evaluators get wrong, and see whether it says so.

    The cases: an empty answer, empty evidence, no claims, a refusal, None and a number instead of a text, replies of
    the evaluator's own model that are cut short, unreadable or refuse, a changed number, another language, the invented
    end of a long answer, and 100,000 tokens of evidence. The evaluator is a function f(response, evidence,
    question=None) that returns a number, a mapping with a score, or None; with a parameter `ask` its model is played.
    It runs in a process of its own. A number where nothing was measured, NaN, and the same number for an answer with
    an error and for one without are dishonest: exit code 1. One that never gave a number is not known: exit code 3.

    \b
    Examples:
      hallumeter integrity --judge embedded
      hallumeter integrity --python my_metrics:faithfulness
      hallumeter integrity --python my_metrics:faithfulness --case no_claims --case refusal --format json
    """
    from hallumeter.challenge.integrity.probe import IntegritySettings, check_integrity, result_text

    if (function is None) == (judge is None):
        raise click.UsageError("give one of --python and --judge", click.get_current_context())
    settings = IntegritySettings(
        kind="judge" if judge is not None else "python",
        name=str(judge if judge is not None else function),
        timeout_seconds=float(str(options["timeout"])),
        only=tuple(options["cases"]),  # type: ignore[arg-type]
    )
    is_quiet = bool(options["quiet"])
    result = check_integrity(settings, None if is_quiet else _say)
    click.echo(result_text(result, str(options["form"])), nl=False)
    if result.dishonest:
        raise click.exceptions.Exit(EXIT_DISHONEST)
    if not result.measured:
        raise click.exceptions.Exit(UNMEASURED)


def _say(title: str) -> None:
    click.echo(f"{title} ...", err=True)
