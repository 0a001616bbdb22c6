"""`hallumeter aspects replay`: a run with other switches, from the answers that it holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hallumeter.cli.experiments import UNMEASURED, failure_lines
from hallumeter.cli.parameters import quiet_option

from .run import counted_text, headline

if TYPE_CHECKING:
    from hallumeter.pipelines.aspects.replaying import ReplayOutcome


@click.command(short_help="Recompute a run with other switches.")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE", help="A switch, a threshold, patterns, a profile."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="The folder of the replay.")
@click.option("--exact", is_flag=True, help="Let sentences fail whose language models would be told something else.")
@quiet_option
def replay(run: Path, changes: tuple[str, ...], out: Path | None, *, exact: bool, quiet: bool) -> None:
    """Recompute a finished run with other switches or thresholds, without one new call.

    RUN is the folder of a finished run. What an agent said then is used again. An offline agent that would be told
    something else is asked anew, which costs nothing. A language model cannot be: its old answer is used, and named in
    the output's meta.replayed; with --exact such a sentence fails instead.

    \b
    What can be set:
      enable_stage2, enable_validator, enable_debate, enable_debate_override, enable_moderator
      debate_override.profile (t0, t1, t2), .min_total, .min_margin, .min_target_conf, .l3_conservative
      debate_override_thresholds, debate_thresholds, patterns.ko, patterns.en    files
      profile (smoke, regression, paper_main)

    \b
    Examples:
      hallumeter aspects replay runs/my-run --set enable_validator=false
      hallumeter aspects replay runs/my-run --set debate_override.profile=t1 --out runs/my-run-t1
      hallumeter aspects replay runs/my-run --set enable_debate=false --exact
    """
    from hallumeter.cli.progress import shown_audit
    from hallumeter.pipelines.aspects.replaying import replay_run

    with shown_audit(is_quiet=quiet) as watch:
        outcome = replay_run(run, changes, out=out, is_exact=exact, watch=watch)
    if not quiet:
        _say_notes(outcome)
    first = f"{counted_text(outcome.finished)}, {outcome.changed:,} with another result than in the run"
    click.echo("\n".join([first, *headline(outcome.summary)]))
    click.echo(f"outputs: {outcome.folder / 'outputs.jsonl'}\nreport: {outcome.folder / 'report.html'}")
    if not outcome.finished.sentences:
        raise click.exceptions.Exit(UNMEASURED)


def _say_notes(outcome: ReplayOutcome) -> None:
    from hallumeter.text.printable import one_line

    for notice in outcome.notices:
        click.echo(one_line(f"note: {notice}"), err=True)
    if outcome.recomputed:
        click.echo(f"note: {outcome.recomputed:,} answers of offline agents were computed anew", err=True)
    if outcome.replayed:
        roles = ", ".join(f"{role} {count:,}" for role, count in outcome.replayed.items())
        click.echo(
            f"note: language models would have been told something else, and their old answers were used: {roles}; "
            "meta.replayed names them in each output",
            err=True,
        )
    for line in failure_lines(outcome.finished.failures):
        click.echo(one_line(line), err=True)
