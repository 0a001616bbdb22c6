"""A run in shards finds what a run in one piece finds, whatever dies on the way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import hallumeter
from hallumeter.claims.sharded import ShardedMeasure
from hallumeter.cli.main import main
from hallumeter.errors import InputError
from hallumeter.records.manifest import Manifest
from hallumeter.run import sharded
from hallumeter.run.engines import engine_by_name
from hallumeter.run.shards import Part, Receipt, Shard, shard_number
from hallumeter.run.store import RunStore

LINES = ("records.jsonl", "claims.jsonl", "verdicts.jsonl", "failures.jsonl", "measurements.jsonl")
SHARDS = 4
IN_SHARDS = ("--engine", "local", "--shards", str(SHARDS), "--workers", "2")
JUDGE = '''
import os, signal, sys, time
from pathlib import Path

HERE = Path(__file__).parent


def judge(claim, evidence, record):
    """Notes every question; when a file says so, kills the process that works, or the one that waits for it."""
    with (HERE / "asked.txt").open("a", encoding="utf-8") as asked:
        asked.write(f"{record.record_id}\\n")
    time.sleep(float((HERE / "pause.txt").read_text()) if (HERE / "pause.txt").exists() else 0)
    for name, process in (("kill-worker", os.getpid), ("kill-driver", os.getppid)):
        order = HERE / name
        if order.exists() and record.record_id == order.read_text(encoding="utf-8"):
            order.unlink()
            os.kill(process(), signal.SIGKILL)
            time.sleep(0.2)
    return claim in evidence
'''


def write_answers(path: Path, count: int) -> None:
    """Answers of two models to shared questions, with rows that cannot be used, have no id, or come twice."""
    rng = random.Random(count)
    lines = []
    for number in range(count):
        height = rng.randrange(300)
        row = {
            "id": f"r{rng.randrange(count)}",
            "model": rng.choice("ab"),
            "topic": rng.choice(["높이", "âge"]),
            "response": f"The tower is {height} m high. It is old.",
            "evidence": ["It is old.", f"The tower is {height + rng.randrange(2)} m high."],
        }
        if number % 11 == 0:
            del row["id"]
        if number % 13 == 0:
            row["response"] = None  # type: ignore[assignment]
        lines.append("{broken" if number % 17 == 0 else json.dumps(row, ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Workplace:
    """A folder with answers and a judge that can be told to kill."""

    def __init__(self, folder: Path, *, answers: int = 80) -> None:
        self.folder = folder
        write_answers(folder / "answers.jsonl", answers)
        (folder / "deadly.py").write_text(JUDGE, encoding="utf-8")

    def start(self, *words: str) -> subprocess.Popen[str]:
        source = Path(hallumeter.__file__).parents[1]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(self.folder)])}
        command = [sys.executable, "-m", "hallumeter", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            command, cwd=self.folder, env=environment, text=True, start_new_session=True, **pipes
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """In this process; what it starts finds the judge as it does."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.syspath_prepend(self.folder)
            done = CliRunner().invoke(main, list(words))
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    def run_alone(self, *words: str) -> subprocess.CompletedProcess[str]:
        """In a process of its own, which may be killed."""
        process = self.start(*words)
        said, complained = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, said, complained)

    def audit(self, out: str, *words: str, judge: str = "python:deadly.judge") -> subprocess.CompletedProcess[str]:
        return self.run("audit", *self.words(judge), "--out", out, *words)

    @staticmethod
    def words(judge: str = "python:deadly.judge") -> tuple[str, ...]:
        return "answers.jsonl", "--judge", judge, "--by", "topic"

    def sharded(self, out: str, *words: str, **how: str) -> subprocess.CompletedProcess[str]:
        return self.audit(out, *IN_SHARDS, *words, **how)

    def asked(self) -> Counter[str]:
        path = self.folder / "asked.txt"
        found = Counter(path.read_text(encoding="utf-8").split()) if path.exists() else Counter()
        path.unlink(missing_ok=True)
        return found

    def order(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def exported(self, run: str) -> Path:
        out = f"{Path(run).name}-jsonl"
        done = self.run("export", run, "--to", "jsonl", "--out", out)
        assert done.returncode == 0, done.stderr
        return self.folder / out


def contents(run: Path, names: Sequence[str] = (*LINES, "summary.json")) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A workplace with one run in one piece, and one in shards that nothing disturbed."""
    place = Workplace(tmp_path_factory.mktemp("sharded"))
    for done in (place.audit("plain"), place.sharded("shards")):
        assert done.returncode == 0, done.stderr
    place.asked()
    return place


def test_an_export_is_the_run_in_one_piece_byte_for_byte(place: Workplace) -> None:
    exported, plain = place.exported("shards"), place.folder / "plain"
    assert contents(exported) == contents(plain)
    manifests = [msgspec.json.decode((run / "manifest.json").read_bytes(), type=Manifest) for run in (exported, plain)]
    assert manifests[0].inputs == manifests[1].inputs
    assert (manifests[0].settings, manifests[0].judges) == (manifests[1].settings, manifests[1].judges)
    back = place.run("export", exported.name, "--to", "parquet", "--out", "again")
    assert back.returncode == 0, back.stderr
    again = place.exported("again")
    assert contents(again, [*LINES, "summary.json", "manifest.json", "report.html"]) == contents(
        exported, [*LINES, "summary.json", "manifest.json", "report.html"]
    )


def test_commands_read_a_run_in_shards_as_they_read_any_other(place: Workplace) -> None:
    verified = place.run("verify", "shards")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "shards" in verified.stdout
    compared = place.run("compare", "plain", "shards")
    assert "unchanged" in compared.stdout, compared.stderr
    place.order("policy.toml", 'name = "strict"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.0001\n')
    gates = [place.run("gate", run, "--policy", "policy.toml") for run in ("plain", "shards")]
    assert [gate.returncode for gate in gates] == [1, 1], gates[1].stderr
    run, plain = hallumeter.load(place.folder / "shards"), hallumeter.load(place.folder / "plain")
    assert sorted(finding.claim.claim_id for finding in run.findings()) == sorted(
        finding.claim.claim_id for finding in plain.findings()
    )
    assert place.run("report", "shards", "--out", "page.html").returncode == 0
    assert (place.folder / "page.html").stat().st_size > 10_000


def test_a_changed_table_is_found_out(place: Workplace, tmp_path: Path) -> None:
    store = RunStore(place.folder / "shards")
    copy = RunStore(tmp_path / "copy")
    names = ["plan.json", "commits.json", "summary.json", "manifest.json"]
    for name in [*names, *(path for receipt in store.committed() for _, path in receipt.files)]:
        copy.write(name, store.read(name) or b"")
    victim = dict(next(store.committed()).files)["verdicts"]
    copy.write(victim, (copy.read(victim) or b"")[:-1] + b"?")
    verified = place.run("verify", str(tmp_path / "copy"))
    assert verified.returncode == 1
    assert victim in verified.stdout


def test_a_shard_whose_worker_is_killed_is_done_again(place: Workplace) -> None:
    victim = json.loads((place.folder / "plain" / "records.jsonl").read_text(encoding="utf-8").splitlines()[20])
    place.order("kill-worker", victim["record_id"])
    done = place.sharded("killed-worker")
    assert done.returncode == 0, done.stderr
    assert not (place.folder / "kill-worker").exists()
    again = shards_asked_twice(place)
    assert len(again) == 1, "only the shard of the killed worker is done again"
    assert contents(place.exported("killed-worker")) == contents(place.folder / "plain")


def shards_asked_twice(place: Workplace) -> set[int]:
    """Shards of which some record was judged more often than it has claims."""
    claims = Counter(
        json.loads(line)["record_id"]
        for line in (place.folder / "plain" / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    )
    twice = [record for record, times in place.asked().items() if times > claims[record]]
    return {shard_number(record.partition("@")[0], SHARDS) for record in twice}


def test_a_run_whose_driver_is_killed_goes_on_where_it_was(place: Workplace) -> None:
    victim = json.loads((place.folder / "plain" / "records.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    place.order("kill-driver", victim["record_id"])
    killed = place.run_alone("audit", *place.words(), "--out", "killed-driver", *IN_SHARDS)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    refused = place.sharded("killed-driver")
    assert refused.returncode == 2
    assert "not finished; go on with it by --resume" in refused.stderr
    other = place.sharded("killed-driver", "--resume", judge="rules")
    assert other.returncode == 2
    assert "the run was begun with judges" in other.stderr
    wait_for_orphans(place.folder / "killed-driver")
    done = place.sharded("killed-driver", "--resume")
    assert done.returncode == 0, done.stderr
    assert len(shards_asked_twice(place)) <= 2, "at most what two workers had under way is done again"
    assert contents(place.exported("killed-driver")) == contents(place.folder / "plain")
    finished = place.sharded("killed-driver", "--resume")
    assert "nothing is left to do" in finished.stderr


def wait_for_orphans(run: Path) -> None:
    """Workers of a killed driver end by themselves, once their shard is done."""
    before = -1
    while (now := len(list((run / "commits").glob("*.json")))) != before:
        before = now
        time.sleep(1)


def stopping(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_while_shards_are_merged_keeps_them(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sharded, "merged_partial", stopping)
        stopped = place.sharded("stopped-late", judge="rules")
    assert stopped.returncode == 3
    assert "stopped; 4 of 4 shards are kept in stopped-late" in stopped.stderr
    assert place.sharded("stopped-late", "--resume", judge="rules").returncode == 0
    assert place.run("verify", "stopped-late").returncode == 0


def test_ctrl_c_while_the_input_is_split_leaves_nothing(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded.NoShardProgress, "splitting", stopping)
    stopped = place.sharded("stopped-early", judge="rules")
    assert stopped.returncode == 130
    assert not (place.folder / "stopped-early").exists()


@pytest.mark.long
def test_ctrl_c_ends_cleanly_and_the_run_can_be_resumed(place: Workplace) -> None:
    place.asked()
    place.order("pause.txt", "0.02")
    process = place.start("audit", *place.words(), "--out", "stopped", *IN_SHARDS)
    deadline = time.monotonic() + 120
    while not (place.folder / "asked.txt").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, complained = process.communicate(timeout=60)
    assert process.returncode == 3, complained
    assert "Resume with the same command and --resume" in complained
    assert "Traceback" not in complained
    (place.folder / "pause.txt").unlink()
    done = place.sharded("stopped", "--resume")
    assert done.returncode == 0, done.stderr
    assert contents(place.exported("stopped")) == contents(place.folder / "plain")
    place.asked()


@pytest.mark.long
def test_a_run_in_object_storage_is_the_same(place: Workplace, bucket: str) -> None:
    done = place.sharded(f"{bucket}/run")
    assert done.returncode == 0, done.stderr
    assert contents(place.exported(f"{bucket}/run")) == contents(place.folder / "plain")
    page = place.run("report", f"{bucket}/run", "--out", "remote.html")
    assert page.returncode == 0, page.stderr
    verified = place.run("verify", f"{bucket}/run")
    assert verified.stdout.startswith(f"{bucket}/run: equal\n")
    compared = place.run("compare", f"{bucket}/run", "plain")
    assert compared.stdout.startswith("run → plain · "), compared.stderr
    for command in ("label", "baselines"):
        refused = place.run(command, f"{bucket}/run")
        assert refused.returncode == 2
        assert f"first: hallumeter export {bucket}/run --to jsonl --out RUN" in refused.stderr
    assert hallumeter.load(f"{bucket}/run").summary == hallumeter.load(place.folder / "plain").summary
    stored = b"".join(RunStore(f"{bucket}/run").read(name) or b"" for name in ("plan.json", "manifest.json"))
    assert b"secret-of-a-test" not in stored
    place.asked()


def test_verdicts_are_measured_in_shards_too(place: Workplace) -> None:
    rows = [
        {
            "record_id": f"r{number % 40}",
            "claim_id": f"c{number % 3}",
            "label": "REFUTED" if number % 5 else "SUPPORTED",
        }
        | {"judge": "ab"[number % 7 == 0], "model": "m" if number % 40 < 20 else "n", "topic": f"t{number % 2}"}
        for number in range(300)
    ]
    place.order("verdicts.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    for out, words in {"measured": (), "measured-in-shards": ("--shards", "3", "--workers", "1")}.items():
        done = place.run("measure", "verdicts.jsonl", "--by", "topic", "--out", out, *words)
        assert done.returncode == 0, done.stderr
    assert contents(place.exported("measured-in-shards")) == contents(place.folder / "measured")


def test_a_dry_run_says_how_it_estimates_and_leaves_nothing_behind(place: Workplace) -> None:
    done = place.sharded("dry", "--dry-run", judge="rules")
    assert done.returncode == 0, done.stderr
    assert "80 rows in 4 shards" in done.stdout
    assert "measured on the first 80 rows here" in done.stdout
    assert "unknown" not in done.stdout
    asks = place.sharded("dry", "--dry-run")
    assert asks.returncode == 0, asks.stderr
    assert not place.asked(), "a judge that may cost something is not asked"
    assert "core-hours         unknown" in asks.stdout
    assert " ms a row" not in asks.stdout
    paid = place.sharded("dry", "--dry-run", "--judge", "rules", judge="openai:no-such-model")
    assert paid.returncode == 0, paid.stderr
    assert "; without the calls" in paid.stdout
    assert "cost               unknown" in paid.stdout
    assert all(len(line) <= 80 for line in (done.stdout + asks.stdout + paid.stdout).splitlines())
    assert not (place.folder / "dry").exists()


@pytest.mark.parametrize(
    ("command", "row", "words"),
    [
        ("measure", {"record_id": "a", "claim_id": "c", "label": "REFUTED"}, ()),
        ("transcripts", {"page": "p", "engine": "e", "reference": "a", "response": "b"}, ()),
        ("dialogue measure", {"patient_id": "p", "turn_id": 1, "question": "What?", "answer": "Rest."}, ()),
        ("dialogue measure", {"patient_id": "p", "turn_id": 1, "answer": "Rest."}, ("--judge", "rules")),
        ("aspects score", {"text_id": "s", "input_text": "Good.", "final_result": {}}, ()),
        ("aspects aggregate", {"meta": {"text_id": "s", "input_text": "Good."}}, ()),
    ],
)
def test_commands_that_ask_nobody_estimate_their_shards(
    place: Workplace, command: str, row: dict[str, object], words: tuple[str, ...]
) -> None:
    place.order("rows.jsonl", json.dumps(row))
    told = place.run(*command.split(), "rows.jsonl", *words, "--shards", "2", "--workers", "1", "--dry-run")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("1 rows in 2 shards, 1 at a time\n")
    assert ("calls              unknown" in told.stdout) is bool(words)
    assert ("measured on the first 1 rows here" in told.stdout) is not bool(words)
    assert all(len(line) <= 80 for line in told.stdout.splitlines())
    whole = place.run(*command.split(), "rows.jsonl", *words, "--dry-run")
    assert whole.returncode == 2
    assert "--dry-run estimates a run in shards; give --engine or --shards, too" in whole.stderr


def test_an_estimate_leaves_out_what_a_process_does_once(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    place.order("verdicts.jsonl", '{"record_id": "a", "claim_id": "c", "label": "REFUTED"}\n' * 50)
    asked = []

    def estimated(_: object, __: object, part: Part, ___: object) -> tuple[float, int, float]:
        asked.append(len(list(part.rows())))
        return (60.0 if len(asked) == 1 else 0.1), 0, 0.0

    monkeypatch.setattr(ShardedMeasure, "estimated", estimated)
    told = place.run("measure", "verdicts.jsonl", "--shards", "2", "--dry-run")
    assert "2.00 ms a row, measured on the first 50 rows here" in told.stdout
    assert asked == [20, 50]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "hadoop"), "no engine is called 'hadoop'; expected one of local, ray"),
        (("--shards", "2", "--limit", "3"), "--limit takes some of the answers"),
        (("--shards", "2", "--by", "colour"), "no record has the field 'colour'"),
        (("--shards", "2", "--consensus", "dawid-skene"), "leave out --shards and --engine"),
    ],
)
def test_what_cannot_be_done_in_shards_is_refused_in_one_line(
    place: Workplace, words: tuple[str, ...], message: str
) -> None:
    done = place.audit("refused", *words, judge="rules")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (place.folder / "refused" / "plan.json").exists()


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        ("audit --judge rules", "{broken"),
        ("audit --judge rules", '{"id": "a", "response": 5, "evidence": "It is old."}'),
        ("measure", "{broken"),
        ("measure", '{"claim_id": "c"}'),
        ("measure", '{"record_id": "a", "claim_id": "c", "label": "odd"}'),
        ("dialogue measure", "{broken"),
        ("transcripts", '{"page": "p", "engine": "e", "reference": null, "response": "a"}'),
        ("aspects score", "{broken"),
        ("aspects aggregate", "{broken"),
        ("aspects aggregate", ""),
    ],
)
def test_an_input_without_a_usable_row_is_refused_as_in_one_piece(place: Workplace, command: str, rows: str) -> None:
    place.order("rows.jsonl", rows)
    words = (*command.split(), "rows.jsonl", "--out", "refused", "--workers", "1")
    plain, cut = place.run(*words), place.run(*words, "--shards", "2")
    assert (plain.returncode, cut.returncode) == (2, 2)
    assert cut.stderr == plain.stderr
    assert "; the first fault: rows.jsonl:1: " in cut.stderr or not rows
    assert not (place.folder / "refused").exists()


def test_a_file_in_the_place_of_the_run_is_left_alone(place: Workplace) -> None:
    place.order("taken", "mine")
    done = place.sharded("taken", judge="rules")
    assert done.returncode == 2
    assert "taken: exists already; choose another folder with --out" in done.stderr
    assert (place.folder / "taken").read_text(encoding="utf-8") == "mine"


def killed_at(shard: Shard) -> Receipt:
    os.kill(os.getpid(), signal.SIGKILL)
    return Receipt(shard.number, "", (), (), 0, 0.0, won=True)


def test_a_shard_that_kills_every_worker_ends_the_run_by_its_name() -> None:
    with pytest.raises(InputError, match="shard 0 of 1: 3 processes were killed at it"):
        list(engine_by_name("local").for_each(killed_at, [Shard(0, 1)], slots=1))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["kill-worker", "kill-driver"])
def test_a_run_that_is_killed_at_random_ten_times_loses_nothing(place: Workplace, kind: str) -> None:
    rng = random.Random(kind)
    records = [
        json.loads(line)["record_id"]
        for line in (place.folder / "plain" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for number in range(10):
        out = f"{kind}-{number}"
        place.order(kind, rng.choice(records))
        done = place.run_alone("audit", *place.words(), "--out", out, *IN_SHARDS)
        if kind == "kill-driver":
            assert done.returncode == -signal.SIGKILL
            wait_for_orphans(place.folder / out)
            done = place.sharded(out, "--resume")
        assert done.returncode == 0, done.stderr
        assert len(shards_asked_twice(place)) <= 2
        assert contents(place.exported(out)) == contents(place.folder / "plain")
