"""`hallumeter ci`: answers in, one exit code for a pipeline out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED
from .gate import EXIT_CODES as GATE_CODES
from .output import opened_run, refuse_as_file, say_where
from .parameters import OUTPUT, PATH, by_option, command, given_paths, option

if TYPE_CHECKING:
    from hallumeter.claims.profiles import Policy
    from hallumeter.records.comparison import Comparison
    from hallumeter.records.decisions import GateResult
    from hallumeter.run.finished import Run

SUMMARY_VARIABLE, OUTPUT_VARIABLE = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
DECISION = "What decides"
_LEVELS = {"no_regression": "notice", "regression": "error", "inconclusive": "warning", "unmeasured": "warning"}
"""How a workflow shows the outcome of a comparison."""


@command(short_help="Audit, gate and compare in one step of a pipeline.")
@click.argument("paths", nargs=-1, type=PATH)
@option("--run", "finished", type=PATH, metavar="RUN", help="Take a finished run of any instrument instead of files.")
@option(
    "--source", type=PATH, default=Path(), metavar="DIR", help="With --run: folder of the input files, to name lines."
)
@option("--judge", "judges", multiple=True, metavar="JUDGE", help="As in `hallumeter audit`; repeat for a panel.")
@by_option
@option("--policy", type=PATH, metavar="FILE", section=DECISION, help="The TOML policy with the bounds.")
@option("--baseline", type=PATH, metavar="RUN", section=DECISION, help="A run over the same records to compare with.")
@option(
    "--allow-inconclusive",
    is_flag=True,
    section=DECISION,
    help="Pass when the comparison can neither show nor rule out a regression.",
)
@option("--out", type=PATH, metavar="RUN", section=OUTPUT, help="Keep the run in this folder, with its report.")
@option("--sarif", type=PATH, metavar="FILE", section=OUTPUT, help="Write unsupported claims as SARIF; needs --policy.")
@option("--junit", type=PATH, metavar="FILE", section=OUTPUT, help="Write the bounds as JUnit XML; needs --policy.")
@option(
    "--summary",
    type=PATH,
    metavar="FILE",
    section=OUTPUT,
    help="Append tables and worst findings as Markdown.  [default: $GITHUB_STEP_SUMMARY, if set]",
)
def ci(paths: tuple[Path, ...], **options: Any) -> None:
    """Audit answers, hold them to a policy and compare them with a baseline, in one step of a pipeline.

    In a GitHub workflow, findings become annotations and tables go into the summary of the job; elsewhere they are
    printed. With --out, a stopped run is resumed. Exit code 0: passed. 1: a bound is broken, or there is
    a regression. 3: something could not be measured, or the comparison is inconclusive. 2: the input cannot be used.

    \b
    Examples:
      hallumeter ci answers.jsonl --policy policy.toml
      hallumeter ci answers.jsonl --policy policy.toml --baseline main-run
      hallumeter ci answers.jsonl --judge openai:gpt-4o-mini --out run
      hallumeter ci --run pages-run --policy policy.toml --junit gate.xml
    """
    from hallumeter.claims.profiles import Policy

    _check_options(paths, options)
    policy, baseline = _policy(options), _baseline(options)
    run = _run(paths, options)
    gated = None if policy is None else _held(run, policy, paths=paths, options=options)
    compared = None if baseline is None else _compared(run, baseline)
    # Without a policy there are no bounds, and claims are named all the same.
    shown = gated or _held(run, Policy("none"), paths=paths, options=options)
    _write_files(run, shown, compared, options=options)
    _print(run, shown, compared)
    if options["finished"] or options["out"]:
        say_where(run.path)
    raise click.exceptions.Exit(_exit_code(run, gated, compared, allows_inconclusive=options["allow_inconclusive"]))


def _check_options(paths: tuple[Path, ...], options: dict[str, Any]) -> None:
    """Refuse what does not go together, before anything is audited."""
    context = click.get_current_context()
    if bool(paths) == (options["finished"] is not None):
        raise click.UsageError("give files of answers, or a finished run with --run", context)
    if options["policy"] is None and (options["sarif"] or options["junit"]):
        raise click.UsageError("--sarif and --junit need a policy: add --policy FILE", context)
    for name in ("sarif", "junit", "summary"):
        if options[name] is not None:
            refuse_as_file(options[name])


def _run(paths: tuple[Path, ...], options: dict[str, Any]) -> Run:
    """The finished run that was named, or an audit of the files."""
    if options["finished"] is not None:
        return opened_run(options["finished"], is_verified=True)
    from hallumeter.claims.audit.commands import audit
    from hallumeter.claims.settings import AuditSettings
    from hallumeter.run.engines.local import available_cores

    settings = AuditSettings(workers=available_cores())
    return audit(
        list(given_paths(paths, "answers")),
        judge=options["judges"] or None,
        by=options["by"],
        out=options["out"],
        settings=settings,
    )


def _policy(options: dict[str, Any]) -> Policy | None:
    """The policy, read before anything is audited: a mistake in it must not cost an audit."""
    if options["policy"] is None:
        return None
    from hallumeter.catalog import METRICS_BY_ID
    from hallumeter.claims.measure.commands import read_policy

    return read_policy(options["policy"], METRICS_BY_ID)


def _baseline(options: dict[str, Any]) -> Run | None:
    return None if options["baseline"] is None else opened_run(options["baseline"], is_verified=True)


def _held(run: Run, policy: Policy, *, paths: tuple[Path, ...], options: dict[str, Any]) -> GateResult:
    from hallumeter.decide.gate.pipeline import gate_result

    return gate_result(run, policy, source=options["source"], files=paths)


def _compared(run: Run, baseline: Run) -> Comparison:
    from hallumeter.decide.compare.pipeline import compare

    return compare(baseline, run)


def _write_files(run: Run, gated: GateResult, compared: Comparison | None, *, options: dict[str, Any]) -> None:
    """Write what was asked for, and what the workflow reads."""
    from hallumeter.decide.gate.text import gate_junit, gate_sarif

    for name, written in (("sarif", gate_sarif), ("junit", gate_junit)):
        if options[name] is not None:
            options[name].write_text(written(gated), encoding="utf-8")
    named = os.environ.get(SUMMARY_VARIABLE)
    target = options["summary"] or (Path(named) if named else None)
    if target is not None:
        _append(target, _markdown(run, gated, compared))
    if named := os.environ.get(OUTPUT_VARIABLE):
        is_kept = options["finished"] or options["out"]
        outputs = {"run": run.path, "report": run.path / "report.html"} if is_kept else {}
        outputs |= {"sarif": options["sarif"]} if options["sarif"] else {}
        # A name with a line break could add an output of its own.
        lines = (f"{name}={' '.join(str(path).splitlines())}\n" for name, path in outputs.items())
        _append(Path(named), "".join(lines))


def _append(target: Path, text: str) -> None:
    with target.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def _markdown(run: Run, gated: GateResult, compared: Comparison | None) -> str:
    from hallumeter.decide.compare.text import comparison_markdown
    from hallumeter.decide.gate.text import claims_markdown, gate_markdown
    from hallumeter.report.summary_text import markdown_text

    parts = [gate_markdown(gated) if gated.checks else f"### Hallucination\n\n{claims_markdown(gated)}"]
    parts += [] if compared is None else [comparison_markdown(compared)]
    parts += [f"<details><summary>All metrics</summary>\n\n{markdown_text(run.summary)}\n</details>\n"]
    return "\n".join(parts)


def _print(run: Run, gated: GateResult, compared: Comparison | None) -> None:
    """Annotations where a workflow reads them, and tables."""
    from hallumeter.decide.compare.text import MOST_REASONS, comparison_text
    from hallumeter.decide.gate.text import annotation, gate_github, gate_text
    from hallumeter.report.summary_text import summary_text
    from hallumeter.report.table import terminal_width

    is_workflow = os.environ.get("GITHUB_ACTIONS") == "true"
    if not gated.checks and compared is None:
        click.echo(summary_text(run.summary, "table"), nl=False)
    if is_workflow:
        click.echo(gate_github(gated), nl=False)
    elif gated.checks:
        click.echo(gate_text(gated, **terminal_width()), nl=False)
    if compared is not None:
        if is_workflow:
            said = ". ".join([compared.outcome.replace("_", " "), *compared.reasons[:MOST_REASONS]])
            click.echo(annotation(_LEVELS[compared.outcome], "title=hallumeter compare", said))
        click.echo(comparison_text(compared, **terminal_width()), nl=False)


def _exit_code(run: Run, gated: GateResult | None, compared: Comparison | None, *, allows_inconclusive: bool) -> int:
    """A broken bound or a regression outweighs what could not be measured."""
    from .compare import EXIT_CODES as COMPARE_CODES

    codes = [] if gated is None else [GATE_CODES[gated.outcome]]
    if compared is not None:
        is_open = compared.outcome == "inconclusive"
        codes.append(0 if is_open and allows_inconclusive else COMPARE_CODES[compared.outcome])
    if not any(row.value is not None for row in run.summary.metrics):
        codes.append(UNMEASURED)
    return 1 if 1 in codes else max(codes, default=0)
