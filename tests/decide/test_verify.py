"""Every number of a run, or of a page, is computed once more; an edited one is named with both values."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

import hallumeter
from aspect_outputs import output
from compared_runs import run_of, verdict_rows
from hallumeter.cli.main import main
from hallumeter.decide.verify import is_same, verify_page, verify_run
from hallumeter.demo import DIALOGUES, ENGLISH_REVIEWS, NEWSPAPERS
from hallumeter.report.page import proof as proofs
from hallumeter.report.page.proof import PROOF, block_json, page_blocks, proof_of, sealed
from hallumeter.report.page.render import as_data
from hallumeter.run.digests import write_manifest
from hallumeter.run.finished import load
from hallumeter.run.run_folder import MANIFEST, RunFolder


def verified(*words: object) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, words)])


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited") / "run"
    with resources.as_file(resources.files("hallumeter") / "samples" / "rag_answers.jsonl") as answers:
        hallumeter.audit(str(answers), judge="rules", by="model", out=folder)
    return folder


@pytest.fixture
def run(audited: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(audited, tmp_path / "run"))


def forged(run: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file and write the manifest anew, as somebody would who knows the digests."""
    (run / name).write_bytes(change((run / name).read_bytes()))
    manifest = RunFolder(run).manifest
    (run / MANIFEST).unlink()
    write_manifest(run, manifest)


def _only(demo: Path, name: str) -> Path:
    """The run of this name, wherever the demo has put it."""
    [manifest] = demo.rglob(f"{name}/{MANIFEST}")
    return manifest.parent


def test_an_untouched_audit_is_equal(run: Path) -> None:
    result = verified(run)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith(f"{run}: equal\n")
    for name in ("files", "measurements.jsonl", "summary.json"):
        assert re.search(rf"^  {name:18}  [\d,]+ equal$", result.stdout, re.MULTILINE)


def test_every_run_of_the_demo_is_equal(finished_demo: Path) -> None:
    for name in (NEWSPAPERS, DIALOGUES, ENGLISH_REVIEWS, "answers"):
        found = verify_run(load(_only(finished_demo, name)))
        assert found.outcome == "equal", (name, found.checks)
        assert sum(check.equal for check in found.checks) > 100


def test_an_edited_value_is_named_with_both_values(run: Path) -> None:
    summary = json.loads((run / "summary.json").read_bytes())
    row = next(row for row in summary["metrics"] if row["metric"] == "mihr" and not row["by"])
    true, row["value"] = row["value"], 0.125
    forged(run, "summary.json", lambda _: json.dumps(summary).encode())
    result = verified(run)
    assert result.exit_code == 1
    assert f"mihr {row['judge']} · value: 0.125, computed {true}" in result.stdout


def test_an_edited_verdict_makes_counts_different(run: Path) -> None:
    forged(run, "verdicts.jsonl", lambda text: text.replace(b'"NOT_ENOUGH_INFO"', b'"SUPPORTED"', 1))
    found = verify_run(load(run))
    assert found.outcome == "different"
    [summary] = [check for check in found.checks if check.name == "summary.json"]
    assert any(each.where.endswith("· count") for each in summary.differences)


def test_an_edited_measurement_and_a_removed_one_are_different(run: Path) -> None:
    forged(run, "measurements.jsonl", lambda text: b"".join(text.splitlines(keepends=True)[:-1]))
    assert verified(run).exit_code == 1


def test_a_truncated_run_is_different_and_what_it_hinders_is_named(run: Path) -> None:
    (run / "claims.jsonl").write_bytes(b"")
    result = verified(run)
    assert result.exit_code == 1
    assert "claims.jsonl: 0 lines instead of 403" in result.stdout
    assert "numbers" in result.stdout
    assert "not verifiable: its files cannot be read" in result.stdout


def test_a_damaged_summary_is_no_traceback(run: Path) -> None:
    (run / "summary.json").write_text("{", encoding="utf-8")
    result = verified(run)
    assert result.exit_code == 1
    assert "Traceback" not in result.output


def test_a_run_without_digests_is_computed_again_and_the_lack_is_named(run: Path) -> None:
    older = msgspec.structs.replace(RunFolder(run).manifest, files=())
    (run / MANIFEST).write_bytes(msgspec.json.encode(older))
    result = verified(run)
    assert result.exit_code == 3
    assert "kept no digests of files" in result.stdout


def test_measured_verdicts_of_a_panel_and_of_several_models_are_equal(tmp_path: Path) -> None:
    labels = {f"r{number}": "snr"[number % 3] * 3 for number in range(12)}
    rows = [
        {**row, "model": model, "judge": judge, "text": f"claim {row['claim_id']}"}
        for model in ("a", "b")
        for judge in ("one", "two", "three")
        for row in verdict_rows(labels)
    ]
    for name, settings in (("plain", {}), ("grouped", {"by": ("model",), "consensus": "dawid-skene"})):
        run = run_of(tmp_path / name, rows, **settings)
        found = verify_run(run)
        assert found.outcome == "equal", found.checks


def test_scorecards_are_aggregated_again(tmp_path: Path) -> None:
    outputs, cards = tmp_path / "outputs.jsonl", tmp_path / "cards.jsonl"
    outputs.write_bytes(b"".join(msgspec.json.encode(output(f"s{number}")) + b"\n" for number in range(3)))
    for words in (["score", outputs, "--out", cards], ["aggregate", cards, "--out", tmp_path / "run"]):
        assert CliRunner().invoke(main, ["aspects", *map(str, words)]).exit_code == 0
    assert verify_run(load(tmp_path / "run")).outcome == "equal"


def test_what_a_run_does_not_keep_is_not_verifiable_and_never_passed(tmp_path: Path) -> None:
    manifest = tmp_path / "run" / MANIFEST
    run_of(tmp_path / "run", verdict_rows({"r1": "sn"}))
    text = manifest.read_text(encoding="utf-8").replace('"hallumeter",', '"my-own-0123",', 1)
    manifest.write_text(text, encoding="utf-8")
    result = verified(tmp_path / "run")
    assert result.exit_code == 3
    assert "the rules of your own policy are not kept in a run" in result.stdout


def test_the_result_is_json_for_other_programs(run: Path) -> None:
    found = json.loads(verified(run, "--format", "json").stdout)
    assert {check["name"] for check in found["checks"]} == {"files", "measurements.jsonl", "summary.json"}


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.3, 0.31, False),
        (None, 0.0, False),
        (None, None, True),
        ("a", "a", True),
        (True, 1.0, True),
        (3, 3.0, True),
    ],
)
def test_numbers_may_differ_in_their_last_digits_and_nothing_else(found: object, expected: object, same: bool) -> None:
    assert is_same(found, expected) is same  # type: ignore[arg-type]


def test_a_folder_that_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    for words in ([tmp_path], [tmp_path / "nowhere.html"], [tmp_path, "--run", tmp_path]):
        result = verified(*words)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1


# A report proves its own arithmetic; with its run, all of it.


@pytest.fixture
def page(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(run / "report.html", tmp_path / "report.html"))


def changed(page: Path, change: Callable[[str], str]) -> Path:
    """The page as a forger would leave it: changed, with a digest that fits."""
    before = page.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    page.write_text(sealed(after), encoding="utf-8", newline="\n")
    return page


def with_proof(text: str, change: Callable[[str], str]) -> str:
    """The page with other data inside."""
    old = page_blocks(text)[PROOF]
    new = change(block_json(old).decode())
    return text.replace(old, as_data(json.loads(new)))


@pytest.mark.parametrize("language", ["en", "fr", "ko"])
def test_a_report_is_equal_alone_and_with_its_run_in_every_language(run: Path, tmp_path: Path, language: str) -> None:
    page = hallumeter.report(run, tmp_path / "page.html", language=language)
    assert verify_page(page).outcome == "equal"
    found = verify_page(page, [load(run)])
    assert found.outcome == "equal"
    assert [check.name for check in found.checks][-2:] == ["run", "whole page"]


def test_reports_of_all_instruments_are_equal(finished_demo: Path, tmp_path: Path) -> None:
    runs = sorted(path.parent for path in finished_demo.rglob("manifest.json"))
    assert len(runs) >= 4
    for run in runs:
        page = run / "report.html"
        found = verify_page(page, [load(run)])
        assert found.outcome == "equal", (run, found.checks)
    together = hallumeter.report(runs, tmp_path / "all.html")
    assert verify_page(together, [load(run) for run in runs]).outcome == "equal"
    assert verify_page(together, [load(runs[0])]).outcome == "different"


def test_a_page_that_was_edited_by_hand_is_different(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("hallumeter", "hallumeten", 1), encoding="utf-8", newline="\n")
    result = verified(page)
    assert result.exit_code == 1
    assert re.search(r"digest +DIFFERENT", result.stdout)


def test_a_printed_number_that_was_forged_with_its_digest_is_named_with_both(page: Path) -> None:
    text = proofs.page_markup(page.read_text(encoding="utf-8"))
    printed = re.search(r">(0\.\d\d\d)<", text)
    assert printed is not None
    result = verified(changed(page, lambda text: text.replace(f">{printed[1]}<", ">0.001<", 1)))
    assert result.exit_code == 1
    assert re.search(r"digest +1 equal", result.stdout)
    assert re.search(r"printed +DIFFERENT", result.stdout)
    assert "0.001" in result.stdout
    assert printed[1] in result.stdout


def test_a_value_that_does_not_follow_from_its_counts_is_named(page: Path) -> None:
    def forge(text: str) -> str:
        return with_proof(text, lambda data: re.sub(r'"value":0\.\d+', '"value":0.0123', data))

    result = verified(changed(page, forge))
    assert result.exit_code == 1
    assert re.search(r"arithmetic +DIFFERENT", result.stdout)
    assert re.search(r"value: 0\.0123, computed 0\.\d+ = \d+ / \d+", result.stdout)


def test_a_report_that_is_forged_throughout_is_found_out_by_its_run(run: Path, tmp_path: Path) -> None:
    rows = verdict_rows({f"r{number}": "s" for number in range(9)})
    other = run_of(tmp_path / "other", rows)
    page = hallumeter.report(other, tmp_path / "page.html")
    assert verify_page(page).outcome == "equal"
    result = verified(page, "--run", run)
    assert result.exit_code == 1
    assert "made from other files or settings" in result.stdout


def test_records_that_were_taken_out_of_a_page_are_missed(page: Path) -> None:
    def without_records(text: str) -> str:
        old = page_blocks(text)["records-data"]
        block = json.loads(block_json(old))
        return text.replace(old, as_data({**block, "records": block["records"][1:]}))

    result = verified(changed(page, without_records))
    assert result.exit_code == 1
    assert "shown 0 times, computed 1 times" in result.stdout


@pytest.mark.parametrize(
    "block",
    ["", "{", "null", '{"gzip":"AAAA"}', '{"gzip":"H4sIAAAA"}', '{"version":1}', "[" * 100_000],
)
def test_a_page_without_data_that_can_be_read_is_not_verifiable(page: Path, block: str) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(page_blocks(text)[PROOF], block), encoding="utf-8", newline="\n")
    result = verified(page)
    assert result.exit_code == 3
    assert "carries no data that it was printed from" in result.stdout


def test_a_block_that_unpacks_to_too_much_is_not_unpacked(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "LARGEST", 1_000)
    text = page.read_text(encoding="utf-8")
    assert '"gzip"' in page_blocks(text)[PROOF]
    assert proof_of(text) is None


def test_data_from_which_no_page_can_be_printed_are_no_traceback(page: Path) -> None:
    def forge(text: str) -> str:
        return with_proof(text, lambda data: data.replace('"language":"en"', '"language":"xx"', 1))

    result = verified(changed(page, forge))
    assert result.exit_code == 1
    assert "computed none (" in result.stdout


def test_a_page_of_another_version_is_checked_but_not_printed_again(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hallumeter.decide.verify.version", lambda _: "9.9")
    result = verified(page)
    assert result.exit_code == 3
    assert re.search(r"arithmetic +[\d,]+ equal", result.stdout)
    assert "this is 9.9" in result.stdout


def test_comparisons_and_rankings_are_verified_as_far_as_they_can_be(tmp_path: Path) -> None:
    runs = [
        run_of(tmp_path / name, verdict_rows({f"r{n}": "sn"[(n % step) == 0] * 2 for n in range(12)})).path
        for name, step in (("a", 2), ("b", 3), ("c", 4))
    ]
    page = tmp_path / "comparison.html"
    CliRunner().invoke(main, ["compare", str(runs[0]), str(runs[1]), "--out", str(page)])
    assert verified(page).exit_code == 0
    assert verified(page, "--run", runs[0], "--run", runs[1]).exit_code == 0
    other = verified(page, "--run", runs[0], "--run", runs[2])
    assert other.exit_code == 1
    assert re.search(r"mihr second: 0\.\d+, computed 0\.\d+", other.stdout)
    forged = changed(
        page, lambda text: with_proof(text, lambda data: re.sub(r'"difference":-?0', '"difference":9', data))
    )
    assert re.search(r"arithmetic +DIFFERENT", verified(forged).stdout)
    ranking = tmp_path / "ranking.html"
    CliRunner().invoke(main, ["compare", *map(str, runs), "--out", str(ranking)])
    result = verified(ranking)
    assert result.exit_code == 3
    assert "ranks follow from the values of every record" in result.stdout


def test_equal_runs_give_the_same_report_byte_for_byte(run: Path, tmp_path: Path) -> None:
    with resources.as_file(resources.files("hallumeter") / "samples" / "rag_answers.jsonl") as answers:
        hallumeter.audit(str(answers), judge="rules", by="model", out=tmp_path / "again")
    assert (tmp_path / "again" / "report.html").read_bytes() == (run / "report.html").read_bytes()


def test_a_signature_by_ssh_keygen_is_good_and_breaks_with_one_byte(page: Path, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")

    def keygen(*words: object, given: Path | None = None) -> int:
        text = given.read_bytes() if given is not None else b""
        return subprocess.run(["ssh-keygen", *map(str, words)], input=text, capture_output=True, check=False).returncode

    key, signers = tmp_path / "key", tmp_path / "allowed_signers"
    assert keygen("-q", "-t", "ed25519", "-N", "", "-C", "kim@example.org", "-f", key) == 0
    assert keygen("-Y", "sign", "-f", key, "-n", "hallumeter", page) == 0
    signers.write_text(f"kim@example.org {key.with_suffix('.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    signature = page.with_name("report.html.sig")
    check = ("-Y", "verify", "-f", signers, "-I", "kim@example.org", "-n", "hallumeter", "-s", signature)
    assert keygen(*check, given=page) == 0
    assert verified(page).exit_code == 0
    page.write_bytes(page.read_bytes().replace(b"<title>", b"<title> ", 1))
    assert keygen(*check, given=page) != 0
