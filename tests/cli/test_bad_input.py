"""What cannot be used is refused in one line with exit code 2; bad rows are skipped, counted and said."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import VERDICT, refused, succeed, write
from pyarrow import parquet

from hallumeter.report import summary_text

LINE = (json.dumps(VERDICT) + "\n").encode()
TABLE = b"record_id,claim_id,label\nr1,c1,REFUTED\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES: list[tuple[str, bytes, str]] = [
    ("empty.jsonl", b"", "empty.jsonl: the file is empty; expected one record per line"),
    ("empty.csv", b"", "empty.csv: the file is empty"),
    ("empty.parquet", b"", "empty.parquet: the file is empty"),
    ("blank.jsonl", b"\n \n\r\n", "blank.jsonl: no usable record found"),
    ("blank.csv", b"\n\n", "blank.csv: no usable record found"),
    ("head.csv", b"record_id,claim_id,label\n", "head.csv: no usable record found"),
    ("other.csv", b"a,b\n1,2\n", "other.csv:2: record_id: expected the id of the response, found none"),
    ("repeated.csv", b"record_id,label,label\nr1,a,b\n", "column 'label' stands twice in the first row"),
    ("ragged.csv", b"record_id,claim_id,label\nr1\n", "ragged.csv:2: expected 3 cells as in the first row, found 1"),
    ("latin.csv", TABLE.replace(b"r1", b"r\xe9"), "latin.csv: not UTF-8 near line 1"),
    ("latin.jsonl", LINE.replace(b"r1", b"r\xe9"), "latin.jsonl:1: not UTF-8 (byte"),
    ("wide.jsonl", LINE.decode().encode("utf-16"), "wide.jsonl: the text is encoded as UTF-16; save it as UTF-8"),
    ("wide.csv", TABLE.decode().encode("utf-16"), "wide.csv: not UTF-8 near line 1"),
    ("binary.jsonl", b"\x00\x01\x02\x03", "binary.jsonl:1: not valid JSON"),
    ("array.jsonl", b"[" + LINE.strip() + b"]\n", "array.jsonl:1: row: expected an object, found a list"),
    ("python.jsonl", b"{'record_id': 'r1'}\n", "python.jsonl:1: not valid JSON"),
    ("nan.jsonl", b'{"record_id": NaN}\n', "null for a value that is not known"),
    ("notes.txt", b"hello", "notes.txt: unknown ending '.txt'; expected one of .jsonl"),
    ("number.json", b"5", "number.json: expected a list of objects, found a number"),
    ("half.json", LINE.strip()[:-9], "half.json: not valid JSON"),
    ("none.json", b"[]", "none.json: no usable record found"),
    ("data.yaml", LINE, "data.yaml: unknown ending '.yaml'"),
    ("noending", LINE, "noending: unknown ending ''"),
    ("false.jsonl.gz", LINE, "false.jsonl.gz: cannot be read to its end"),
    ("half.jsonl.gz", gzip.compress(LINE * 999, mtime=0)[:60], "is it a whole gzip file?"),
    ("false.parquet", LINE, "false.parquet: not a readable Parquet file"),
    ("table.parquet", TABLE, "table.parquet: not a readable Parquet file"),
    ("deep.jsonl", b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "nested too deeply"),
    ("surrogate.jsonl", LINE.replace(b"r1", b"\\ud800"), "surrogate.jsonl:1: not valid JSON"),
]


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[name for name, _, _ in FILES])
def test_a_file_that_holds_no_usable_row_is_refused_with_a_reason(
    here: Path, name: str, content: bytes, said: str
) -> None:
    (here / name).write_bytes(content)
    assert said in refused("measure", name)
    assert said in refused("measure", name, "--out", "run", "--format", "json")
    assert [path.name for path in here.iterdir()] == [name]


def test_a_file_of_the_wrong_kind_behind_a_known_ending_is_recognised(here: Path) -> None:
    parquet.write_table(pa.table({"record_id": ["r1"], "claim_id": ["c1"], "label": ["REFUTED"]}), "right.parquet")
    for name, said in [("v.jsonl", "this is a Parquet file; give it the ending .parquet"), ("v.csv", "not UTF-8")]:
        Path("right.parquet").rename(name)
        assert said in refused("measure", name)
        Path(name).rename("right.parquet")
    succeed("measure", "right.parquet")


def test_what_is_no_file_is_refused(here: Path) -> None:
    assert refused("measure", "nothing.jsonl") == "nothing.jsonl: no such file"
    (here / "folder.jsonl").mkdir()
    assert "folder.jsonl: is a folder; give the file inside it" in refused("measure", "folder.jsonl")
    write(here / "v.jsonl", [VERDICT])
    assert refused("measure", "v.jsonl", "nothing.csv", "--out", "run") == "nothing.csv: no such file"
    assert not (here / "run").exists()


@pytest.mark.parametrize("given", [b"", b"\n\n"])
def test_an_empty_standard_input_is_refused(here: Path, given: bytes) -> None:
    assert refused("measure", "-", given=given) == "<stdin>: no usable record found"
    assert refused("measure", given=given) == "<stdin>: no usable record found"
    assert refused("measure", "-", "--out", "run", given=given)
    assert list(here.iterdir()) == []


BAD_ROWS: list[tuple[object, str]] = [
    ({**VERDICT, "label": "maybe"}, "unknown_label"),
    ({**VERDICT, "label": None}, "missing_label"),
    ({**VERDICT, "label": 3}, "wrong_type"),
    ({**VERDICT, "confidence": 1.3}, "impossible_probability"),
    ({**VERDICT, "unsupported_probability": -0.1}, "impossible_probability"),
    ({**VERDICT, "probabilities": [0.9, 0.9]}, "impossible_probability"),
    ({**VERDICT, "inference_samples": [[0.5, 0.5], [1.0]]}, "impossible_probability"),
    ({"claim_id": "c", "label": "REFUTED"}, "missing_field"),
    ({"record_id": "r", "label": "REFUTED"}, "missing_field"),
    ({"record_id": "ok", "claim_id": "c", "label": "REFUTED"}, "duplicate_verdict"),
    ("just text", "wrong_type"),
]


@pytest.mark.parametrize(
    ("row", "code"), BAD_ROWS, ids=[f"{code}{number}" for number, (_, code) in enumerate(BAD_ROWS)]
)
def test_a_bad_row_is_skipped_said_and_written_down(here: Path, row: object, code: str) -> None:
    good = {"record_id": "ok", "claim_id": "c", "label": "SUPPORTED"}
    path = write(here / "v.jsonl", [good, row])
    result = succeed("measure", path, "--out", "run")
    assert f"1 row could not be used: {code}" in result.stderr
    assert "Traceback" not in result.stderr
    [failure] = [json.loads(line) for line in (here / "run" / "failures.jsonl").read_text().splitlines()]
    assert failure["code"] == code
    assert failure["message"].startswith("v.jsonl:2: ")
    assert refused("measure", path, "--strict", "--out", "strict").startswith("v.jsonl:2: ")
    assert not (here / "strict").exists()


def test_impossible_numbers_in_a_table_are_skipped_and_named(here: Path) -> None:
    rows = "".join(f"r{number},c,REFUTED,{cell}\n" for number, cell in enumerate(["0.5", "1.3", "-0.1", "nan", "inf"]))
    (here / "v.csv").write_text(f"record_id,claim_id,label,confidence\n{rows}", encoding="utf-8")
    result = succeed("measure", "v.csv", "--out", "run")
    assert "4 rows could not be used: impossible_probability" in result.stderr
    failures = [json.loads(line)["message"] for line in (here / "run" / "failures.jsonl").read_text().splitlines()]
    assert [message.split(" found ")[1] for message in failures] == ["1.3", "-0.1", "nan", "inf"]


def test_the_first_faults_are_named_one_by_one_and_the_others_counted(here: Path) -> None:
    write(here / "v.jsonl", [VERDICT, *({**VERDICT, "claim_id": number, "label": "maybe"} for number in range(2, 40))])
    errors = succeed("measure", "v.jsonl").stderr
    assert "v.jsonl:2: label: expected SUPPORTED, REFUTED" in errors
    assert "38 rows could not be used: unknown_label" in errors
    assert len(errors.splitlines()) < 20
    assert succeed("measure", "v.jsonl", "--quiet").stderr == ""


def test_a_cell_may_hold_a_list(here: Path) -> None:
    table = 'record_id,claim_id,label,probabilities\nr,c,REFUTED,"[0.5, 0.5]"\ns,c,REFUTED,"[0.5, 0.6]"\n'
    (here / "v.csv").write_text(table, encoding="utf-8")
    assert "1 row could not be used: impossible_probability" in succeed("measure", "v.csv").stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "color"], "no row has the field 'color'; fields found: claim_id, label, record_id"),
        (["--cluster", "color"], "no row has the field 'color'"),
        (["--headline", "nobody"], "no verdict is by a judge called 'nobody'; judges found: judge"),
        (["--confidence", "1.5"], "confidence is 1.5; expected a number between 0 and 1, such as 0.95"),
        (["--confidence", "nan"], "confidence is nan"),
        (["--similarity", "0"], "similarity is 0; expected a number above 0 and up to 1"),
        (["--resamples", "5"], "5 resamples are too few for an interval; expected 100 or more"),
        (["--seed", "-1"], "seed is -1; expected a whole number from 0"),
        (["--policy", "nothing.toml"], "nothing.toml: the policy cannot be read"),
        (["--policy", "."], ".: the policy cannot be read"),
    ],
)
def test_an_option_that_asks_for_what_is_not_there_is_refused(here: Path, options: list[str], said: str) -> None:
    path = write(here / "v.jsonl", [VERDICT])
    assert said in refused("measure", path, *options)
    assert refused("measure", path, *options, "--out", "run")
    assert not (here / "run").exists()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("name = ", "policy.toml: not valid TOML"),
        ("", "policy.toml: Object missing required field `name`; a policy has a name, [[rules]] and [[bounds]]"),
        ('name = "x"', "policy.toml: no [[rules]] found (metric, good, bad), nor [[bounds]]"),
        ('name = "x"\nrules = []\nmore = 1', "unknown field `more`"),
        ('name = "x"\n[[rules]]\nmetric = "nonsense"\ngood = 0\nbad = 1', "unknown metric 'nonsense'"),
        ('name = "x"\n[[rules]]\nmetric = "mihr"\ngood = "low"\nbad = 1', "policy.toml: "),
        ('name = "x"\n[[rules]]\nmetric = "mihr"\ngood = 1\nbad = 1', "policy.toml: rule for 'mihr'"),
        ('name = "x"\n[[rules]]\nmetric = "mihr"\ngood = nan\nbad = 1', "policy.toml: rule for 'mihr'"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(here: Path, policy: str, said: str) -> None:
    (here / "policy.toml").write_text(policy, encoding="utf-8")
    assert said in refused("measure", write(here / "v.jsonl", [VERDICT]), "--policy", "policy.toml")


@pytest.mark.parametrize(
    "arguments",
    [
        ["measure", "v.jsonl", "--nothing"],
        ["measure", "v.jsonl", "--format", "xml"],
        ["measure", "v.jsonl", "--consensus", "guess"],
        ["measure", "v.jsonl", "--seed", "one"],
        ["nothing"],
        ["report"],
        ["metrics", "mihr", "mahr"],
        ["--nothing"],
        ["measure", "v.jsonl", "--sed", "1"],
    ],
)
def test_words_that_the_command_line_does_not_know_are_refused_in_one_line(here: Path, arguments: list[str]) -> None:
    write(here / "v.jsonl", [VERDICT])
    known = [word for word in arguments[:1] if word in ("measure", "report", "metrics")]
    assert refused(*arguments).endswith(f"; `{' '.join(['hallumeter', *known])} --help` has examples")


def test_nothing_is_written_over(here: Path) -> None:
    path = write(here / "v.jsonl", [VERDICT])
    full = here / "full"
    full.mkdir()
    (full / "mine").write_text("mine", encoding="utf-8")
    assert refused("measure", path, "--out", "full") == (
        "full: exists already; choose another folder or remove it first"
    )
    assert "v.jsonl: exists already" in refused("measure", path, "--out", path)
    assert "no such folder; make it first" in refused("measure", path, "--out", "no/such/run")
    assert "no such folder; make it first" in refused("measure", path, "--out", "v.jsonl/run")
    assert (full / "mine").read_text(encoding="utf-8") == "mine"
    assert sorted(entry.name for entry in here.iterdir()) == ["full", "v.jsonl"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a place where nobody can write")
def test_a_place_that_cannot_be_written_to_is_refused(here: Path) -> None:
    path = write(here / "v.jsonl", [VERDICT])
    assert "/proc: cannot be written to" in refused("measure", path, "--out", "/proc/run")


def test_a_report_of_what_is_no_run_is_refused(here: Path) -> None:
    assert "nothing: not a run folder (it has no manifest.json)" in refused("report", "nothing")
    write(here / "v.jsonl", [VERDICT])
    succeed("measure", "v.jsonl", "--out", "run")
    (here / "run" / "summary.json").write_text("{", encoding="utf-8")
    before = (here / "run" / "report.html").read_bytes()
    assert "summary.json: changed since the run was written" in refused("report", "run")
    assert "damaged or missing" in refused("report", "run", "--no-verify")
    assert (here / "run" / "report.html").read_bytes() == before


def test_an_unknown_metric_is_refused() -> None:
    assert "no metric is called 'nonsense'; `hallumeter metrics` lists those that exist" in refused(
        "metrics", "nonsense"
    )


def test_a_file_that_may_not_be_read_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    write(here / "v.jsonl", [VERDICT])
    monkeypatch.setattr(Path, "open", refuse)
    line = refused("measure", "v.jsonl")
    assert "v.jsonl" in line
    assert "Permission denied" in line


def test_what_the_system_refuses_without_naming_a_file_is_said_all_the_same(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(summary_text, "summary_text", refuse)
    line = refused("measure", write(here / "v.jsonl", [VERDICT]), "--quiet")
    assert line == "the system refuses to read or write: No space left on device; make room and start the command again"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other limits")
def test_names_that_are_too_long_are_refused(here: Path) -> None:
    assert "File name too long" in refused("measure", "a" * 300 + ".jsonl")
    assert "File name too long" in refused("measure", write(here / "v.jsonl", [VERDICT]), "--out", "a" * 300)
    assert "File name too long" in refused("report", "a" * 300)


def test_a_report_that_cannot_be_written_is_refused(here: Path) -> None:
    succeed("measure", write(here / "v.jsonl", [VERDICT]), "--out", "run")
    (here / "folder").mkdir()
    assert refused("report", "run", "--out", "folder") == "folder: is a folder; give the name of a file"
    assert refused("report", "run", "--out", "missing/page.html") == "missing: no such folder; make it first"


@pytest.mark.parametrize("name", ["claims.jsonl", "summary.json"])
def test_bytes_that_are_not_text_in_a_run_are_named(here: Path, name: str) -> None:
    succeed("measure", write(here / "v.jsonl", [VERDICT]), "--out", "run")
    path = here / "run" / name
    path.write_bytes(path.read_bytes().replace(b'"claim"', b'"\xff"', 1).replace(b'"measure"', b'"\xff"', 1))
    assert name in refused("report", "run")


def test_an_impossible_claim_in_a_run_is_named_by_its_file_and_line(here: Path) -> None:
    succeed("measure", write(here / "v.jsonl", [VERDICT]), "--out", "run")
    write(here / "run" / "claims.jsonl", [{"record_id": "r1", "claim_id": "c1", "start": 5, "end": 1}])
    assert "claims.jsonl:1: damaged (" in refused("report", "run", "--no-verify")


def test_an_error_that_lists_names_is_one_line_without_escapes(here: Path) -> None:
    path = write(here / "v.jsonl", [{**VERDICT, "judge": "a\nb\x1b]0;t\x07", "c\u2028d\x85e\u202e": 1}])
    assert "judges found: a b·]0;t·" in refused("measure", path, "--headline", "zz")
    line = refused("measure", path, "--by", "zz")
    assert " c d e·, " in line
    assert line.isprintable()


def test_a_fault_that_shows_names_is_one_line_without_escapes(here: Path) -> None:
    path = write(here / "v.jsonl", [VERDICT, {**VERDICT, "claim_id": "c2", "label": "\x1b]0;t\x07\u202e"}])
    errors = succeed("measure", path).stderr
    assert "v.jsonl:2: label" in errors
    assert all(line.isprintable() for line in errors.splitlines())


def test_a_fault_of_hallumeter_itself_never_ends_like_a_verdict() -> None:
    broken = """
import sys
import hallumeter.cli.metrics as command
from hallumeter.cli.main import main
command.metrics.callback = lambda **_: 1 // 0
sys.argv = ["hallumeter", "metrics"]
main()
"""
    ended = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert ended.returncode == 70
    assert "ZeroDivisionError" in ended.stderr
    assert ended.stderr.endswith("hallumeter: this is a fault of hallumeter itself; please report it\n")
