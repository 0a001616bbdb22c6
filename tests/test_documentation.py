"""What the documentation says is there, is complete, and runs."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import itertools
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from offline_commands import Command as OfflineCommand
from sharing import made_once

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
"""The first is run by tests/test_readme.py, in an empty folder."""
MARKDOWN_FILES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
SHELLS = {"console", "sh", "bash", "shell"}
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,})(?P<info>[^\n`]*)\n(?P<code>.*?)^ *(?P=marks) *$", re.M | re.S)
RUNNABLE = {True: (["hallumeter"], ["ls"], ["head"], ["cat"]), False: (["hallumeter"],)}
"""The programs whose commands are run, in consoles and in other blocks."""
STATED_EXIT_CODE = re.compile(r"#.*\bexits?\b\D*(\d+)")
DOCUMENT = re.compile(r"^cat > (?P<name>[\w.-]+) <<'(?P<end>\w+)'\n(?P<text>.*?)^(?P=end)$", re.M | re.S)
"""A here-document of a shell block, which writes a file."""
NAV_ENTRY = re.compile(r"^ *- (?:[^:\n]+: )?(?P<target>[\w./-]+)$", re.M)
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")


class Block(NamedTuple):
    """A fenced block of code in a Markdown file."""

    language: str
    code: str
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks that are to be run; those marked .no-run are left out."""
    for match in FENCE.finditer(text):
        language, *rest = match["info"].split() or [""]
        if ".no-run" not in rest:
            code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.M)
            yield Block(language, code, text.count("\n", 0, match.start()) + 2)


class Command(NamedTuple):
    """A command of a shell block."""

    words: str
    exit_code: int
    """As a comment beside or below it states."""
    output: tuple[str, ...] = ()
    """The lines that a console shows below it."""
    document: str | None = None
    """What it writes to the file that is the last of its words; None for a command that is run."""


def commands_of(block: Block) -> Iterator[Command]:
    """Each command of a shell block that can be run here; files that it writes come first."""
    is_console = block.language == "console"
    for match in DOCUMENT.finditer(block.code):
        yield Command(f"cat > {match['name']}", 0, document=match["text"])
    lines = DOCUMENT.sub("", block.code).replace("\\\n", " ").splitlines()
    for place, line in enumerate(lines):
        words = line.removeprefix("$ ") if line.startswith("$ ") or not is_console else ""
        if words.split()[:1] not in RUNNABLE[is_console]:
            continue
        below = list(itertools.takewhile(lambda each: not each.startswith("$ "), lines[place + 1 :]))
        comment = below[0] if below and below[0].lstrip().startswith("#") else ""
        stated = STATED_EXIT_CODE.search(words) or STATED_EXIT_CODE.search(comment)
        shown = [each for each in below if each != comment] if is_console else []
        yield Command(words, int(stated[1]) if stated else 0, tuple(shown))


def plain(text: str) -> str:
    """A text without rules of tables, and with single spaces."""
    return " ".join(text.replace("─", "").split())


def run_python(block: Block, namespace: dict[str, object], page: Path) -> None:
    """Run a block as a program, or as a doctest when it shows prompts."""
    name = f"{page.relative_to(ROOT)}:{block.line}"
    if ">>>" not in block.code:
        # The empty lines put the line numbers of a traceback where they are on the page.
        exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)
        return
    example = doctest.DocTestParser().get_doctest(block.code, namespace, name, str(page), block.line - 1)
    # The runner clears the namespace unless told otherwise, and later blocks need it.
    example.globs = namespace
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=said.append, clear_globs=False)
    assert not result.failed, "".join(said)


class Done(NamedTuple):
    """What a command came to."""

    exit_code: int
    printed: str
    """On both streams, without what went to a file."""


class Shell:
    """Runs the commands of a page beside the bundled samples, in this process and without a socket.

    A command that another page has run on the same files is not run again: its files and its words are taken over.
    """

    def __init__(self, run: OfflineCommand, demo: Path, factory: pytest.TempPathFactory) -> None:
        self._run, self._demo, self._factory = run, demo, factory

    def do(self, command: Command, folder: Path) -> Done:
        words = shlex.split(command.words, comments=True)
        if command.document is not None:
            (folder / words[-1]).write_text(command.document, encoding="utf-8")
            return Done(0, "")
        if words[0] != "hallumeter":
            done = subprocess.run(
                words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
            )
            return Done(done.returncode, done.stderr + done.stdout)
        if words[1] == "demo":
            return self._shown_demo(words, folder)

        def make(place: Path) -> None:
            shutil.copytree(folder, place / "files")
            done = self._hallumeter(words[1:], place / "files")
            (place / "done.json").write_text(json.dumps(done), encoding="utf-8")

        place = made_once(self._factory, f"documented-{key_of(words, folder)}", make)
        shutil.copytree(place / "files", folder, dirs_exist_ok=True)
        return Done(*json.loads((place / "done.json").read_text(encoding="utf-8")))

    def _hallumeter(self, words: list[str], folder: Path) -> Done:
        streams = {mark: words.index(mark) for mark in "<>" if mark in words}
        arguments = words[: min(streams.values(), default=len(words))]
        files = {mark: folder / words[place + 1] for mark, place in streams.items()}
        result = self._run(arguments, folder, files["<"].read_bytes() if "<" in files else b"")
        if ">" in files:
            files[">"].write_bytes(result.stdout_bytes)
        return Done(result.exit_code, result.stderr + ("" if ">" in files else result.stdout))

    def _shown_demo(self, words: list[str], folder: Path) -> Done:
        out = words[words.index("--out") + 1] if "--out" in words else self._demo.name
        shutil.copytree(self._demo, folder / out)
        printed = (self._demo.parent / "printed.txt").read_text(encoding="utf-8")
        return Done(0, printed.replace(self._demo.name, out))


def key_of(words: list[str], folder: Path) -> str:
    """Differs for other words, and for other files in the folder."""
    digest = hashlib.blake2b(json.dumps(words).encode(), digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


@pytest.fixture
def shell(offline_command: OfflineCommand, finished_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(offline_command, finished_demo, tmp_path_factory)


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_blocks_run_in_order_beside_the_bundled_samples_and_print_what_is_shown(
    page: Path, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White space, and lines left out where three dots stand, may differ; words and numbers may not."""
    with resources.as_file(resources.files("hallumeter") / "samples") as samples:
        shutil.copytree(samples, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALLUMETER_ENCODER", "numpy")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language in {"python", "pycon"}:
            run_python(block, namespace, page)
        for command in commands_of(block) if block.language in SHELLS else ():
            done = shell.do(command, tmp_path)
            monkeypatch.chdir(tmp_path)
            said = f"{page.relative_to(ROOT)}:{block.line}: {command.words}\n{done.printed}"
            assert done.exit_code == command.exit_code, said
            printed = plain(done.printed)
            for line in map(plain, command.output):
                assert line in ("", "...") or line in printed, f"{said}\nprints no longer: {line}"


def metric_ids() -> list[str]:
    return [metric.id for metric in importlib.import_module("hallumeter").METRICS]


def page_text(name: str) -> str:
    path = DOCS / name
    assert path.exists(), f"docs/{name} does not exist"
    return path.read_text(encoding="utf-8")


def test_every_metric_has_a_page_of_its_own() -> None:
    missing = [name for name in metric_ids() if not (DOCS / "metrics" / f"{name}.md").exists()]
    assert not missing, f"write docs/metrics/<id>.md for {missing}"


def test_every_metric_is_linked_from_the_index_of_metrics() -> None:
    index = page_text("metrics/index.md")
    missing = [name for name in metric_ids() if f"({name}.md)" not in index]
    assert not missing, f"docs/metrics/index.md does not link to {missing}"


def test_every_page_about_a_metric_is_about_one_that_exists() -> None:
    pages = {path.stem for path in (DOCS / "metrics").glob("*.md")} - {"index"}
    assert pages <= set(metric_ids())


def test_every_command_and_each_of_its_options_is_described(cli_commands: dict[str, click.Command]) -> None:
    text = page_text("reference/commands.md")
    for name, command in cli_commands.items():
        assert f"hallumeter {name}" in text, f"docs/reference/commands.md does not mention hallumeter {name}"
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                # The last spelling counts: earlier ones may be short forms.
                option = max(parameter.opts, key=lambda spelling: spelling.startswith("--"))
                assert option in text, f"docs/reference/commands.md does not mention {option} of {name}"


def test_every_public_name_is_described() -> None:
    text = page_text("reference/python.md")
    names = importlib.import_module("hallumeter").__all__
    missing = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)]
    assert not missing, f"docs/reference/python.md does not mention {missing}"


def test_every_extra_is_shown_with_the_line_that_installs_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    missing = [name for name in project["optional-dependencies"] if f"hallumeter[{name}]" not in text]
    assert not missing, f"neither README.md nor docs/ says pip install 'hallumeter[…]' for {missing}"


@pytest.mark.parametrize("page", MARKDOWN_FILES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if not re.match(r"[a-z]+:|#|gallery/", target):
            path = page.parent / target.partition("#")[0]
            assert path.exists(), f"{page.relative_to(ROOT)} links to {target}, which does not exist"


def test_links_to_a_section_name_one_that_exists() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in MARKDOWN_FILES
        for target in LINK.findall(without_code(page))
        if re.match(r"[^:]*#", target) and not has_section(page, target)
    ]
    assert not dead, dead


def without_code(page: Path) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


def has_section(page: Path, target: str) -> bool:
    """Whether a page has a heading for a link, whose name the site builder makes of its letters."""
    name, _, section = target.partition("#")
    text = FENCE.sub("", (page.parent / name if name else page).read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return section in {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_the_navigation_leads_to_every_page_once_and_to_nothing_else() -> None:
    # The site builder follows an entry for a folder that does not exist to a dead link, without a warning.
    targets = [match["target"] for match in NAV_ENTRY.finditer((DOCS / ".nav.yml").read_text(encoding="utf-8"))]
    listed = [page for target in targets for page in ([target] if target.endswith(".md") else pages_below(target))]
    missing = sorted(set(pages_below(".")) - set(listed))
    assert not missing, f"add to docs/.nav.yml, under the people who look for it: {missing}"
    assert sorted(listed) == pages_below(".")


def pages_below(folder: str) -> list[str]:
    return sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / folder).rglob("*.md"))


def test_the_gallery_links_to_every_report_that_is_built_for_it() -> None:
    script = (DOCS / "build_gallery.py").read_text(encoding="utf-8")
    linked = set(re.findall(r"\(gallery/([\w-]+)\.html\)", page_text("gallery.md")))
    assert linked
    assert {name for name in linked if f'"{name}"' not in script and f'"{name}.html"' not in script} == set()


def test_the_pages_answer_who_looks_for_pandas() -> None:
    assert "pandas" in page_text("faq.md")
    assert "pandas" in page_text("guides/python.md")


def test_the_changelog_has_unreleased_changes_on_top() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[:1] == ["Unreleased"] or headings[:1] == ["[Unreleased]"]


def test_the_citation_names_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: \"?{re.escape(project['version'])}\"?$", citation, re.M)


def test_a_command_is_taken_with_the_exit_code_that_stands_beside_or_below_it() -> None:
    text = "```console\n$ hallumeter a  # exit 3\nout\n$ hallumeter b \\\n    c\n# exits with code 1\n$ pip d\n```\n"
    (block,) = blocks_of(text)
    found = [(" ".join(command.words.split()), command.exit_code, command.output) for command in commands_of(block)]
    assert found == [("hallumeter a # exit 3", 3, ("out",)), ("hallumeter b c", 1, ())]


def test_a_here_document_is_written_before_the_commands_around_it_run(shell: Shell, tmp_path: Path) -> None:
    (block,) = blocks_of("```sh\ncat > a.txt <<'END'\nhallumeter x\nEND\nhallumeter b\n```\n")
    first, *others = commands_of(block)
    shell.do(first, tmp_path)
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "hallumeter x\n"
    assert [command.words for command in others] == ["hallumeter b"]


def test_blocks_marked_no_run_are_left_out_and_others_keep_their_line() -> None:
    text = "# T\n\n```python { .no-run }\n1/0\n```\n\n- item\n\n  ```python\n  x = 1\n  ```\n"
    assert list(blocks_of(text)) == [Block("python", "x = 1\n", 10)]
