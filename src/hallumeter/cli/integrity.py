"""`hallumeter integrity`: pathological cases in, what an evaluator made of them out."""

from __future__ import annotations

import click

from .experiments import UNMEASURED
from .output import echo_result
from .parameters import command, form_option, option, quiet_option

EXIT_DISHONEST = 1


@command(short_help="Check whether an evaluator makes up scores.")
@option("--python", "function", metavar="MODULE:FUNCTION", help="Your evaluator; this folder is searched, too.")
@option("--judge", metavar="JUDGE", help="A judge, as for `hallumeter audit --judge`.")
@option("--case", "cases", multiple=True, metavar="NAME", help="Run only this case; repeat for several.")
@option("--timeout", type=float, default=120, metavar="SECONDS", help="Time limit of one call.")
@form_option
@quiet_option
def integrity(function: str | None, judge: str | None, **options: object) -> None:
    """Check whether an evaluator makes up scores when there is nothing to score.

    Runs it on an empty answer, empty evidence, an answer without claims, a refusal, None, a number instead of a text,
    replies of its own model that are cut short, unreadable or refuse, a changed number, another language, a long answer
    with an invented end, and 100,000 tokens of evidence. An evaluator is a function f(response, evidence,
    question=None) that returns a number, a mapping with a score, or None; if it has a parameter `ask`, its model is
    simulated. It runs in its own process. Exit code 1: it is dishonest (a number where nothing was measured, NaN, or
    the same number for an answer with and without an error). Exit code 3: it never gave a number.

    \b
    Examples:
      hallumeter integrity --judge embedded
      hallumeter integrity --python my_metrics:faithfulness
      hallumeter integrity --python my_metrics:faithfulness --case refusal
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
    form = str(options["form"])
    echo_result(result_text(result, form), form, is_quiet=is_quiet)
    if result.dishonest:
        raise click.exceptions.Exit(EXIT_DISHONEST)
    if not result.measured:
        raise click.exceptions.Exit(UNMEASURED)


def _say(title: str) -> None:
    click.echo(f"{title} ...", err=True)
