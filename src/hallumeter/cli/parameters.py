"""Parameters that several commands have."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from hallumeter.claims.labelled.sources import LabelSettings
    from hallumeter.claims.settings import MeasureSettings, OperatingPoint

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


FORMATS = ("table", "json", "markdown", "csv")
PATH, PATH_OR_DASH = click.Path(path_type=Path), click.Path(path_type=Path, allow_dash=True)


class RunPlace(click.Path):
    """Where a run is written: a folder, as a path, or a place in object storage, as its address."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave an address alone: as a path it would lose a slash."""
        return value if str(value).startswith("s3://") else super().convert(value, param, ctx)


class FinishedRun(RunPlace):
    """A finished run to read, as a folder; one in object storage is stood for by a folder of its small files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Open what is elsewhere."""
        found = super().convert(value, param, ctx)
        if not isinstance(found, str):
            return found
        from hallumeter.run.store_tables import run_folder_of

        return run_folder_of(found)


class LabelledRun(click.Path):
    """A finished run into whose folder something is written, such as labels."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an address."""
        if str(value).startswith("s3://"):
            self.fail(f"labels are kept in a folder; first: hallumeter export {value} --to jsonl --out RUN", param, ctx)
        return super().convert(value, param, ctx)


PLACE, RUN, LABELLED_RUN = RunPlace(path_type=Path), FinishedRun(path_type=Path), LabelledRun(path_type=Path)
PLACE_OR_DASH = RunPlace(path_type=Path, allow_dash=True)


class SectionOption(click.Option):
    """An option that a help page lists under a heading."""

    def __init__(self, *words: Any, section: str = "Options", **how: Any) -> None:
        super().__init__(*words, **how)
        self.section = section


class Command(click.Command):
    """A command whose help page lists options under their headings, in the order of the first option of each."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; what has no heading is `Options` where it comes first, else `Other options`."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for place, (name, records) in enumerate(sections.items()):
            with formatter.section("Other options" if place and name == "Options" else name):
                formatter.write_dl(records)


command = partial(click.command, cls=Command)
option = partial(click.option, show_default=True, cls=SectionOption)
"""An option whose default, if it has one, is in the help page; `section` is the heading it stands under."""
INPUT, JUDGING, MODELS, STATISTICS, OUTPUT = (
    "What to read",
    "How claims are judged",
    "Language models: calls, cost and pace",
    "Statistics",
    "What to print and keep",
)
"""The headings of help pages."""


def joined_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given by repeating an option, by commas, or both; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _login_name(_: click.Context, __: click.Parameter, value: str | None) -> str:
    """The name that was given, else that of whoever sits here; a container may know none."""
    from hallumeter.run.labels import login_name

    return value or login_name()


class OrderedCommands(click.Group):
    """A group that lists its commands in the order of their use."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)


def given_paths(paths: tuple[Path, ...], what: str) -> tuple[Path, ...]:
    """The files that were named, or the standard input if something is piped in."""
    if paths:
        return paths
    if sys.stdin.isatty():
        raise click.UsageError(f"give a file of {what}, or pipe one in", click.get_current_context())
    return (Path("-"),)


def named_sources(paths: tuple[Path, ...]) -> str:
    """The files that were read, in a few words.

    >>> named_sources((Path("data/a.jsonl"), Path("-"))), named_sources(tuple(map(Path, "abcd")))
    ('a.jsonl and standard input', '4 files')
    """
    names = ["standard input" if str(path) == "-" else path.name for path in paths]
    return " and ".join(names) if len(names) < 3 else f"{len(names)} files"


def together(*options: Decorator) -> Decorator:
    """Several options as one, in the order in which help pages list them."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorate in reversed(options):
            command = decorate(command)
        return command

    return decorated


by_option = option(
    "--by",
    multiple=True,
    callback=joined_names,
    metavar="FIELD",
    section=OUTPUT,
    help="Also show each group, such as each model; repeat for several fields.",
)
_RAW_CSV = "hallumeter.raw-csv"


def _note_raw_csv(context: click.Context, _: click.Parameter, is_raw: bool) -> None:
    context.meta[_RAW_CSV] = is_raw


def _chosen_form(context: click.Context, parameter: click.Parameter, form: str) -> str:
    """The form of --format; --raw-csv stands for CSV without the apostrophes."""
    if not context.meta[_RAW_CSV]:
        return form
    if form not in (parameter.get_default(context), "csv"):
        raise click.UsageError(f"--raw-csv prints CSV; it cannot be had with {parameter.opts[0]} {form}", context)
    return "raw-csv"


RAW_CSV_HELP = "Write CSV for programs: no apostrophe before text that a spreadsheet would take for a formula."


def printed_form_options(name: str = "--format") -> Decorator:
    """What to print: a table, JSON, Markdown or CSV."""
    return together(
        option(
            name,
            "form",
            type=click.Choice(FORMATS),
            default="table",
            callback=_chosen_form,
            section=OUTPUT,
            help="What to print.",
        ),
        option(
            "--raw-csv",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_note_raw_csv,
            section=OUTPUT,
            help=RAW_CSV_HELP,
        ),
    )


format_option = printed_form_options()
output_options = together(
    format_option,
    option("--out", type=PLACE, metavar="RUN", section=OUTPUT, help="Write a run folder with an HTML report."),
)
form_option = option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    section=OUTPUT,
    help="What to print.",
)
quiet_option = option(
    "--quiet", is_flag=True, section=OUTPUT, help="Print only the headline: no details, notes or paths."
)
shown_options = together(
    option(
        "--verbose",
        is_flag=True,
        section=OUTPUT,
        help="Print every metric, how judges agree, the top reasons and the signatures.",
    ),
    option(
        "--model-consensus",
        is_flag=True,
        section=OUTPUT,
        help="Also print how far models that answered the same questions agree with each other.",
    ),
)
verbose_option = option("--verbose", is_flag=True, section=OUTPUT, help="Also print the signatures.")
interval_options = together(
    option("--seed", type=int, default=0, section=STATISTICS, help="Seed of the random numbers."),
    option("--resamples", type=int, default=2000, section=STATISTICS, help="Resamples of the bootstrap."),
    option("--confidence", type=float, default=0.95, section=STATISTICS, help="Confidence of the intervals."),
)
measure_options = together(
    option(
        "--policy",
        type=PATH,
        metavar="FILE",
        section=OUTPUT,
        help="Rate the reliability of the result by a TOML policy.",
    ),
    option(
        "--consensus",
        type=click.Choice(["majority", "dawid-skene"]),
        default="majority",
        section=STATISTICS,
        help="How to combine the verdicts of several judges.",
    ),
    option(
        "--headline",
        metavar="JUDGE",
        section=STATISTICS,
        help="The judge whose verdicts count.  [default: the only one, or the consensus of several]",
    ),
    option(
        "--uncertainty",
        type=click.Choice(["information", "variance", "literal"]),
        default="information",
        section=STATISTICS,
        help="How uncertainty is split into its parts.",
    ),
    option(
        "--similarity",
        type=float,
        metavar="S",
        section=STATISTICS,
        help="Treat claims of different models as one if they are at least this similar, 0 to 1.",
    ),
    option(
        "--cluster",
        default="response",
        metavar="FIELD",
        section=STATISTICS,
        help="The unit that is resampled, such as document_id.",
    ),
)
no_verify_option = option(
    "--no-verify", is_flag=True, help="Read the run even if its files were changed since it was written."
)
annotator_option = option("--annotator", callback=_login_name, metavar="NAME", help="Your name.  [default: your login]")
width_option = option(
    "--width",
    "half_width",
    type=float,
    default=0.03,
    metavar="W",
    section=STATISTICS,
    help="Say how many more labels would narrow a rate to plus or minus W.",
)
_preset_option = partial(option, "--preset", metavar="NAME", section=JUDGING)
_threshold_option, _calibration_option = (
    option(
        "--threshold",
        type=float,
        metavar="P",
        section=JUDGING,
        help="Call claims unsupported at this probability or above, instead of using a preset.",
    ),
    option(
        "--calibration",
        type=PATH,
        metavar="FILE",
        section=JUDGING,
        help="Use the threshold that `hallumeter calibrate --out FILE` found.",
    ),
)
operating_options = together(
    _preset_option(
        help="Where the embedded judge draws the line: precise (few false alarms), balanced, or sensitive (few"
        " misses).  [default: balanced]",
    ),
    _threshold_option,
    _calibration_option,
)
finished_operating_options = together(_preset_option(hidden=True), _threshold_option, _calibration_option)
"""For a run that was judged: a preset is refused there, with the reason, and not listed."""
strict_option = option(
    "--strict",
    is_flag=True,
    section=INPUT,
    help="Stop at the first record that cannot be used, instead of skipping it.",
)


def measure_settings(options: dict[str, Any]) -> MeasureSettings:
    """What `measure_options`, `interval_options`, --by and --strict say; they are taken out of the options."""
    from hallumeter.claims.settings import MeasureSettings

    given = {name: options.pop(name) for name in MeasureSettings.__struct_fields__ if name in options}
    policy = options.pop("policy", None)
    if policy is not None:
        from hallumeter.catalog import METRICS_BY_ID
        from hallumeter.claims.measure.commands import read_policy

        given["policies"] = (read_policy(policy, METRICS_BY_ID),)
    return MeasureSettings(is_strict=options.pop("strict"), **given)


def parsed_map(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Paths by field, as --map gives them."""
    if not given:
        return {}
    from hallumeter.formats.shapes import parse_map

    return parse_map(given)


map_option = option(
    "--map",
    multiple=True,
    callback=parsed_map,
    metavar="FIELD=PATH",
    section=INPUT,
    help="Where a field is: response=output.text, evidence=docs[].content. Repeat for several.",
)


def given_operating_point(options: dict[str, Any]) -> OperatingPoint | None:
    """The operating point of --calibration, whose threshold is put in the place of --threshold; None without it.

    Raises:
        click.UsageError: The line is drawn twice.
    """
    path = options.pop("calibration")
    if path is None:
        return None
    if options["preset"] is not None or options["threshold"] is not None:
        raise click.UsageError("give one of --calibration, --threshold and --preset", click.get_current_context())
    from hallumeter.claims.settings import operating_point_of

    point = operating_point_of(path)
    options["threshold"] = point.threshold
    return point


workers_option = option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Processes on this machine.  [default: one per core]"
)


def known_language(_: click.Context, __: click.Parameter, code: str) -> str:
    """The language, if a page can be written in it; asked before any run is read."""
    from hallumeter.report.languages.speaking import catalogue

    catalogue(code)
    return code


LABELS = "Where the labels are"
label_options = together(
    option(
        "--labels",
        type=PATH,
        metavar="FILE",
        section=LABELS,
        help="Labels as CSV, TSV, JSONL or Parquet.  [default: those in the run folder]",
    ),
    option("--reference", metavar="JUDGE", section=LABELS, help="Trust the verdicts of this judge of the run."),
    option("--gold", metavar="FIELD", section=LABELS, help="Field of the records that says what is hallucinated."),
    option("--annotator", metavar="NAME", section=LABELS, help="Use only the labels of this person."),
    option("--judge", metavar="NAME", section=JUDGING, help="The judge to examine.  [default: that of the headline]"),
    option(
        "--by",
        multiple=True,
        callback=joined_names,
        metavar="FIELD",
        section=OUTPUT,
        help="Also show each group; repeat for several fields.",
    ),
    option("--cluster", metavar="FIELD", section=STATISTICS, help="The unit that is resampled, such as patient_id."),
)


def label_settings(options: dict[str, Any]) -> LabelSettings:
    """What `label_options` say; they are taken out of the options."""
    from hallumeter.claims.labelled.sources import LabelSettings

    return LabelSettings(**{name: options.pop(name) for name in LabelSettings.__struct_fields__})
