"""Rows of "Where a change goes" in CONTRIBUTING.md, followed on a copy of the package with just their files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[1]
PACKAGE = Path("src") / "hallumeter"

METRIC = '''

    def blank_page_rate(pages: PageColumns) -> Rates:
        """Pages on which nothing was written, of all."""
        blank = pages.column("is_empty_output")
        return Rates(blank, np.ones(len(blank)))
'''
METRIC_WORDS = """
    [blank_page_rate]
    alias = "{alias}"
    name = "{name}"
    question = "{question}"
    undefined_when = "{undefined}"
"""
MORE_WORDS = """
    formula = "blank pages / pages"
    example = "One of two pages is blank: 0.5."
    caution = "Not why it is blank."
    source = "A test."
"""
JUDGE = '''
    """A judge that supports everything."""

    from __future__ import annotations

    from hallumeter.records.claim import Failure, Label, Verdict
    from hallumeter.records.judging import JudgeSpec, JudgeTask


    class AgreeableJudge:
        """Supports every claim."""

        spec = JudgeSpec("agreeable")

        def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
            """One verdict for each claim."""
            return [Verdict(each.record_id, each.claim_id, "agreeable", Label.SUPPORTED) for each in task.claims]
'''
PAGE_FORMAT = '''
    """Pages whose words are separated by bars."""

    from __future__ import annotations


    def read_barred(data: bytes) -> tuple[str, list[str], float | None, tuple[()]]:
        """The text, nothing to notice, and no word on how sure the engine is or where the lines stand."""
        return data.decode().replace("|", " "), [], None, ()
'''
TOOL = '''
    """A tool that writes answers with a verdict in one word."""

    from __future__ import annotations

    from typing import TYPE_CHECKING

    from hallumeter.records.response import Response

    from .record import ForeignRecord, Reading, Score

    if TYPE_CHECKING:
        from collections.abc import Iterator, Sequence

        from .documents import Document


    def is_thumbs(document: Document) -> bool:
        """Whether a file holds thumbs."""
        return "thumb" in document.first


    def read_thumbs(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
        """The answers with their scores."""
        for row in (row for document in documents for row in document.rows):
            response = Response(str(row.values["id"]), response=str(row.values["answer"]))
            yield ForeignRecord(response, scores=(Score("thumbs:up", float(row.values["thumb"] == "up")),))
'''
PAGE_READER = '''
    """A reader that reads the name of the image."""

    from __future__ import annotations

    from collections.abc import Sequence
    from pathlib import Path

    from .page_readers import Reading, reading_of


    class NameReader:
        """Reads the name of an image."""

        name = "names-1"

        def __init__(self, languages: Sequence[str] = ()) -> None:
            """Languages make no difference."""

        def read(self, image: Path) -> Reading:
            """The name, with confidence."""
            return reading_of([image.stem], [(1.0, len(image.stem))])
'''
DIALECT = '''
    """A language model that repeats what it is asked."""

    from __future__ import annotations

    from .protocol import Completion, ProviderSpec, Reply, Request


    class EchoProvider:
        """Repeats the last message."""

        def __init__(
            self, spec: ProviderSpec, address: str, *, key: str, timeout_seconds: float, connections: int
        ) -> None:
            self.spec = spec

        def complete(self, request: Request) -> Reply:
            """The last message again."""
            said = request.messages[-1].content
            return Reply((Completion(said, "stop"),), model=self.spec.model, raw=said)
'''
REFUSALS = """
    [cues]
    does_not_know = ["non lo so", "purtroppo non lo so"]
"""
ENGINE = '''
    """Work in this process, one item after the other."""

    from __future__ import annotations

    from collections.abc import Callable, Generator, Iterable
    from typing import TypeVar

    _Item = TypeVar("_Item")
    _Result = TypeVar("_Result")


    def map_in_order(
        function: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = 1
    ) -> Generator[_Result, None, None]:
        """The function's results for the items, in their order."""
        yield from map(function, items)
'''


class Copy:
    """A copy of the package that a recipe changes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / PACKAGE

    def write(self, name: str, text: str) -> None:
        path = self.package / name
        assert not path.exists(), f"{name} is there already"
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def append(self, name: str, text: str) -> None:
        with (self.package / name).open("a", encoding="utf-8") as stream:
            stream.write(dedent(text))

    def add(self, name: str, before: str, row: str) -> None:
        """Put a row before a line of a file that is there."""
        path = self.package / name
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} has {before!r} {text.count(before)} times"
        path.write_text(text.replace(before, row + before), encoding="utf-8")

    def run(self, program: str) -> str:
        """What a program prints that imports the copy."""
        return self.python("-c", dedent(program))

    def python(self, *words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.root / "src"), "ECHO_API_KEY": "none"}
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, env=environment, cwd=self.root, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """One copy that all recipes change one after the other, so that the last test checks the design once."""
    root = tmp_path_factory.mktemp("recipes")
    shutil.copytree(ROOT / PACKAGE, root / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_architecture.py", root / "tests")
    shutil.copy(ROOT / "pyproject.toml", root)
    return Copy(root)


def add_metric(copy: Copy) -> None:
    """A metric, once: two tests need it, and each may run in a process of its own."""
    if "blank_page_rate" in (copy.package / "transcripts" / "catalog.py").read_text(encoding="utf-8"):
        return
    copy.append("transcripts/metrics.py", METRIC)
    copy.add(
        "transcripts/catalog.py",
        '    _share(id="empty_output_rate"',
        '    _share(id="blank_page_rate", compute=metrics.blank_page_rate),\n',
    )
    words = {"en": ("Blank", "blank pages", "How many pages are blank?", "there is no page")}
    words["fr"] = ("vides", "pages vides", "Combien de pages sont vides ?", "il n’y a pas de page")
    words["ko"] = ("빈 쪽", "빈 쪽의 비율", "빈 쪽은 얼마나 되는가?", "쪽이 없을 때")
    for language, (alias, name, question, undefined) in words.items():
        text = METRIC_WORDS.format(alias=alias, name=name, question=question, undefined=undefined)
        copy.append(f"transcripts/metrics.{language}.toml", text + (MORE_WORDS if language == "en" else ""))


def test_a_metric_is_a_function_a_row_and_its_words(copy: Copy) -> None:
    add_metric(copy)
    told = copy.run("""
        import hallumeter
        run = hallumeter.transcripts([("a b", "a b"), ("c d", "")])
        print([row.value for row in run.summary.metrics if row.metric == "blank_page_rate" and not row.by])
        run.to_html("report.html", language="fr")
    """)
    assert told.strip() == "[0.5]"
    assert "Combien de pages sont vides" in (copy.root / "report.html").read_text(encoding="utf-8")
    assert "How many pages are blank?" in copy.python("-m", "hallumeter", "metrics", "blank_page_rate")


def test_a_judge_is_a_file_and_a_row(copy: Copy) -> None:
    copy.write("claims/judges/agreeable.py", JUDGE)
    name = "claims/judges/by_name.py"
    copy.add(name, "from .function import", "from .agreeable import AgreeableJudge\n")
    copy.add(name, '    "rules": _Kind(', '    "agreeable": _Kind(("agreeable",), lambda _: AgreeableJudge()),\n')
    told = copy.run("""
        import hallumeter
        run = hallumeter.audit([{"id": "r1", "response": "It rains.", "evidence": "It snows."}], judge="agreeable")
        print([verdict.label.value for finding in run.findings() for verdict in finding.verdicts])
    """)
    assert told.strip() == "['SUPPORTED']"


def test_a_format_of_pages_is_a_file_and_a_row(copy: Copy) -> None:
    copy.write("transcripts/pages/barred.py", PAGE_FORMAT)
    name = "transcripts/pages/page_file.py"
    copy.add(name, "from .hocr import", "from .barred import read_barred\n")
    copy.add(name, '    **dict.fromkeys((".hocr"', '    ".bars": read_barred,\n')
    (copy.root / "page.txt").write_text("le roi de france", encoding="utf-8")
    (copy.root / "read.bars").write_text("le|roi|de|france", encoding="utf-8")
    told = copy.run("""
        import hallumeter
        run = hallumeter.transcripts(["page.txt", "read.bars"])
        print([row.value for row in run.summary.metrics if row.metric == "cer" and not row.by])
    """)
    assert told.strip() == "[0.0]"


def test_results_of_another_tool_are_a_file_and_a_row(copy: Copy) -> None:
    copy.write("ingest/thumbs.py", TOOL)
    copy.add("ingest/tools.py", "from .trulens import", "from .thumbs import is_thumbs, read_thumbs\n")
    copy.add("ingest/tools.py", '    "ragas": Tool(', '    "thumbs": Tool("Thumbs", is_thumbs, read_thumbs),\n')
    rows = [{"id": "a", "answer": "It rains.", "thumb": "up"}, {"id": "b", "answer": "It snows.", "thumb": "down"}]
    (copy.root / "thumbs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = copy.run("""
        import hallumeter
        run = hallumeter.ingest("thumbs.jsonl")
        print([row.value for row in run.summary.metrics if row.metric == "thumbs:up" and not row.by])
    """)
    assert told.strip() == "[0.5]"


def test_an_ocr_engine_is_a_file_and_a_row(copy: Copy) -> None:
    copy.write("models/name_reader.py", PAGE_READER)
    name = "models/page_readers_by_name.py"
    copy.add(name, "from .page_readers import", "from .name_reader import NameReader\n")
    copy.add(name, '    "tesseract": (', '    "names": (NameReader, ("names",)),\n')
    told = copy.run("""
        from pathlib import Path
        from hallumeter.models.page_readers_by_name import page_reader
        print(page_reader("names").read(Path("page-seven.png")).text)
    """)
    assert told.strip() == "page-seven"


def test_a_dialect_of_language_models_is_a_file_and_a_row(copy: Copy) -> None:
    copy.write("models/echo.py", DIALECT)
    row = '    "echo": Vendor("echo.EchoProvider", "https://echo.example/v1", "ECHO_BASE_URL", "ECHO_API_KEY"),\n'
    copy.add("models/by_name.py", '    "openai": Vendor(', row)
    told = copy.run("""
        from hallumeter.claims.judges.by_name import is_language_model
        from hallumeter.models.by_name import provider_named
        from hallumeter.models.protocol import Message, Request
        print(provider_named("echo:small").complete(Request(messages=(Message("user", "hello"),))).raw)
        print(is_language_model("echo:small"))
    """)
    assert told.split() == ["hello", "True"]


def test_a_language_for_refusals_is_one_file(copy: Copy) -> None:
    copy.write("text/lexicons/it/refusals.toml", REFUSALS)
    told = copy.run("""
        import hallumeter
        print(hallumeter.detect_abstention("Purtroppo non lo so.").did_abstain)
        print(hallumeter.detect_abstention("Piove.").did_abstain)
    """)
    assert told.split() == ["True", "False"]


def test_a_chart_of_an_instrument_is_in_its_report_folder(copy: Copy) -> None:
    name = "claims/report/presentation.py"
    copy.add(
        name,
        "def _label_facts(",
        "def _charts(section: Section, confidence: float) -> list[Chart]:\n"
        "    return [replace(chart, title=f'Drawn: {chart.title}') for chart in section_charts(section, confidence)]"
        "\n\n\n",
    )
    copy.add(name, "from msgspec import structs\n", "from msgspec.structs import replace\n")
    shown = "    from hallumeter.report.document import "
    copy.add(name, f"{shown}Fact\n", f"{shown}Section\n")
    copy.add(name, "from hallumeter.report.drawing import Json", "from hallumeter.report.drawing import Chart\n")
    path = copy.package / name
    text = path.read_text(encoding="utf-8").replace("charts=section_charts,", "charts=_charts,")
    path.write_text(text, encoding="utf-8")
    told = copy.run("""
        import hallumeter
        from hallumeter.report.charts import charts_of
        run = hallumeter.audit([{"id": "r1", "response": "It rains.", "evidence": "It snows."}], judge="rules")
        print({chart.title.partition(":")[0] for chart in charts_of(run.document())})
    """)
    assert told.strip() == "{'Drawn'}"


def test_an_option_is_in_its_command(copy: Copy) -> None:
    path = copy.package / "cli" / "metrics.py"
    text = path.read_text(encoding="utf-8")
    text = text.replace(
        "def metrics(metric: str | None)",
        '@click.option("--count", is_flag=True, help="Print how many there are.")\n'
        "def metrics(metric: str | None, *, count: bool)",
    )
    called = "    if metric is None:\n"
    text = text.replace(
        called, f"    if count:\n        click.echo(catalog_text().count('?'))\n        return\n{called}"
    )
    path.write_text(text, encoding="utf-8")
    assert int(copy.python("-m", "hallumeter", "metrics", "--count")) > 100


def test_an_engine_is_one_file(copy: Copy) -> None:
    copy.write("run/engines/serial.py", ENGINE)
    told = copy.run("""
        import inspect
        from hallumeter.run.engines import local, serial
        print(list(serial.map_in_order(abs, [-1, 2], workers=2)))
        print(inspect.signature(serial.map_in_order) == inspect.signature(local.map_in_order))
    """)
    assert told.splitlines() == ["[1, 2]", "True"]


def test_the_added_metric_passes_the_tests_of_all_metrics_and_of_their_words(copy: Copy) -> None:
    add_metric(copy)
    tests = ("tests/test_catalog.py", "tests/report/test_languages.py", "tests/report/test_record_queries.py")
    chosen = "blank_page_rate or unique or tell_metrics or translated or never_said or has_records_behind"
    places = (str(ROOT / name) for name in tests)
    told = copy.python(
        "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), *places, "-k", chosen
    )
    assert "[blank_page_rate] PASSED" in told


def test_the_design_holds_after_all_of_these_changes(copy: Copy) -> None:
    plain = ("-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-o", "pythonpath=", "-o", "testpaths=")
    told = copy.python("-m", "pytest", "-q", *plain, "tests/test_architecture.py")
    assert " failed" not in told
