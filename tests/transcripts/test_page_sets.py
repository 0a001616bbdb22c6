"""Pages out of METS, archives and nested exports find each other; what cannot be trusted is refused in one line."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import hallumeter
from hallumeter import InputError, Run, TranscriptSettings
from hallumeter.cli.main import main
from hallumeter.transcripts import page_sets
from transcript_folders import write_pages, write_rows

PAGE = """<PcGts xmlns="x"><Page><TextRegion id="r"><TextLine id="l"><TextEquiv><Unicode>{}</Unicode></TextEquiv>
</TextLine></TextRegion></Page></PcGts>"""
METS = """<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><mets:fileSec>
{groups}</mets:fileSec><mets:structMap TYPE="LOGICAL"><mets:div ID="LOG"><mets:fptr FILEID="GT_1"/></mets:div>
</mets:structMap><mets:structMap TYPE="PHYSICAL"><mets:div ID="PHYS">{pages}</mets:div></mets:structMap></mets:mets>"""


def write_mets(folder: Path, groups: dict[str, dict[str, str]]) -> Path:
    """A METS file with groups of files, by page."""
    folder.mkdir(exist_ok=True)
    pages = sorted({page for files in groups.values() for page in files})
    said = "".join(
        f'<mets:fileGrp USE="{group}">'
        + "".join(
            f'<mets:file ID="{group}_{page}"><mets:FLocat LOCTYPE="URL" xlink:href="{href}"/></mets:file>'
            for page, href in files.items()
        )
        + "</mets:fileGrp>"
        for group, files in groups.items()
    )
    divisions = "".join(
        f'<mets:div TYPE="page" ID="P_{page}">'
        + "".join(f'<mets:fptr FILEID="{group}_{page}"/>' for group, files in groups.items() if page in files)
        + "</mets:div>"
        for page in pages
    )
    path = folder / "mets.xml"
    path.write_text(METS.format(groups=said, pages=divisions), encoding="utf-8")
    return path


def write_page(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE.format(text), encoding="utf-8")


def pages_of(run: Run) -> list[str]:
    return list(dict.fromkeys(finding.claim.record_id for finding in run.findings()))


def pooled_cer(run: Run) -> float | None:
    return next(row.value for row in run.summary.metrics if row.metric == "cer" and not row.by)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An OCR-D workspace whose files have other numbers than their pages."""
    write_page(tmp_path / "GT" / "a7.xml", "le roi")
    write_page(tmp_path / "OCR-X" / "x_0001.xml", "le roy")
    write_page(tmp_path / "OCR-Y" / "y_0001.xml", "le roi")
    return write_mets(
        tmp_path,
        {
            "IMG": {"1": "https://example.org/1.jpg"},
            "OCR-X": {"1": "OCR-X/x_0001.xml"},
            "GT": {"1": "GT/a7.xml"},
            "OCR-Y": {"1": "file:OCR-Y/y_0001.xml"},
        },
    )


def test_one_mets_file_holds_truth_and_engines(workspace: Path) -> None:
    run = hallumeter.transcripts(workspace)
    assert pages_of(run) == ["P_1@OCR-X", "P_1@OCR-Y"]
    assert {row.by["engine"]: row.value for row in run.summary.metrics if row.metric == "cer" and row.by} == {
        "OCR-X": 1 / 6,
        "OCR-Y": 0,
    }


def test_groups_of_mets_are_named_after_a_hash(workspace: Path) -> None:
    run = hallumeter.transcripts([f"{workspace}#GT", f"{workspace}#OCR-X"])
    assert pages_of(run) == ["P_1"]
    with pytest.raises(
        InputError, match=r"mets.xml: has no file group 'OCR-Z'; expected one of IMG, OCR-X, GT, OCR-Y$"
    ):
        hallumeter.transcripts([f"{workspace}#GT", f"{workspace}#OCR-Z"])
    with pytest.raises(
        InputError, match=r"mets.xml#IMG: 1 file left out, such as https://example.org/1.jpg: .*nothing is"
    ):
        hallumeter.transcripts([f"{workspace}#GT", f"{workspace}#IMG"])


def test_a_group_and_a_folder_are_paired_by_file_names(workspace: Path, tmp_path: Path) -> None:
    engine = write_pages(tmp_path / "engine", {"a7": "le roi"})
    assert pages_of(hallumeter.transcripts([f"{workspace}#GT", str(engine)])) == ["a7"]


def test_mets_that_does_not_say_what_the_truth_is_asks(tmp_path: Path) -> None:
    for name in "AB":
        write_page(tmp_path / f"{name}.xml", "x")
    path = write_mets(tmp_path, {"OCR-A": {"1": "A.xml"}, "OCR-B": {"1": "B.xml"}})
    with pytest.raises(InputError, match=r"which group is the ground truth\? .*groups with pages: OCR-A, OCR-B$"):
        hallumeter.transcripts(path)


def test_mets_without_its_files_says_which_it_looked_for(tmp_path: Path) -> None:
    path = write_mets(tmp_path, {"OCR-D-GT": {"1": "OCR-D-GT/1.xml"}, "OCR-D-TESS": {"1": "OCR-D-TESS/1.xml"}})
    with pytest.raises(InputError, match=r"none of the pages that it lists is on disk .*, such as OCR-D-GT/1\.xml$"):
        hallumeter.transcripts(path)
    path = write_mets(tmp_path, {"IMG": {"1": "1.jpg"}})
    with pytest.raises(InputError, match=r"mets\.xml: lists no page; expected files ending in \.txt"):
        hallumeter.transcripts(path)


@pytest.mark.parametrize("href", ["../secret.xml", "file:///etc/passwd.xml", "%2e%2e/secret.xml", "//host/x.xml"])
def test_mets_reads_nothing_outside_its_folder(tmp_path: Path, href: str) -> None:
    write_page(tmp_path / "secret.xml", "secret")
    write_page(tmp_path / "in" / "gt.xml", "le roi")
    path = write_mets(tmp_path / "in", {"GT": {"1": "gt.xml"}, "OCR": {"1": href}})
    with pytest.raises(InputError, match="they are not in the folder of the METS file"):
        hallumeter.transcripts([f"{path}#GT", f"{path}#OCR"])


def write_archive(path: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_archives_and_nested_exports_are_paired_without_their_folders(tmp_path: Path) -> None:
    truth = write_archive(
        tmp_path / "truth.zip",
        {
            "export_77/Brief/page/0001.xml": PAGE.format("le roi"),
            "export_77/Brief/alto/0001.xml": "<alto/>",
            "export_77/Brief/mets.xml": "<mets/>",
            "export_77/Brief/0001.jpg": b"\xff\xd8",
        },
    )
    engine = write_archive(tmp_path / "vlm.zip", {"0001.xml": PAGE.format("le roy"), "METS.xml": "<mets/>"})
    run = hallumeter.transcripts([truth, engine], out=tmp_path / "run")
    assert (pages_of(run), pooled_cer(run)) == (["0001"], 1 / 6)
    told = "\n".join(run.summary.notices)
    assert "pages were paired by their names without the folders" in told
    assert (
        f"{truth}: 1 file left out, such as export_77/Brief/alto/0001.xml: the same pages are in the folder page"
        in told
    )
    assert [file.name for file in run.manifest.inputs] == ["truth.zip", "vlm"]


def test_a_bomb_is_refused_by_the_bytes_that_come_out_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_sets, "LARGEST_BYTES", 1_000_000)
    bomb = write_archive(tmp_path / "bomb.zip", {"1.txt": b"a" * 2_000_000})
    # The archive claims that the member is small: in its own header and in the directory at the end.
    data = bomb.read_bytes().replace(struct.pack("<I", 2_000_000), struct.pack("<I", 10))
    bomb.write_bytes(data)
    truth = write_pages(tmp_path / "truth", {"1": "un"})
    done = CliRunner().invoke(main, ["transcripts", str(truth), str(bomb)])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    honest = write_archive(tmp_path / "honest.zip", {"1.txt": b"a" * 2_000_000})
    done = CliRunner().invoke(main, ["transcripts", str(truth), str(honest)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "the member '1.txt' cannot be read: larger than 1000000 bytes" in done.output


def test_many_small_members_are_refused_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_sets, "LARGEST_TOTAL", 250)
    path = write_archive(tmp_path / "a.zip", {f"{number}.txt": "a" * 100 for number in range(4)})
    with (
        pytest.raises(InputError, match=r"the member '2.txt' cannot be read: larger than 50 bytes"),
        page_sets.unpacked(path),
    ):
        pass
    monkeypatch.setattr(page_sets, "MOST_MEMBERS", 3)
    with pytest.raises(InputError, match="has 4 members, more than the 3 that are read"), page_sets.unpacked(path):
        pass


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "..\\out.txt", "C:/out.txt"])
def test_a_member_that_leads_out_of_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    path = write_archive(tmp_path / "a.zip", {name: "x"})
    with pytest.raises(InputError, match="leads out of the archive"), page_sets.unpacked(path):
        pass


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 damaged"])
def test_a_damaged_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"a.zip: a damaged archive"):
        hallumeter.transcripts([tmp_path / "a.zip", tmp_path / "a.zip"])


def test_an_archive_without_pages_is_refused_under_its_own_name(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.zip", {"x.jpg": "x"})
    with pytest.raises(InputError, match=r"/a.zip: holds no page"):
        hallumeter.transcripts([path, write_archive(tmp_path / "b.zip", {"1.txt": "x"})])


def test_json_beside_another_file_of_the_page_and_json_without_text_are_left_out(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"1": "un", "2": "deux"})
    (truth / "1.json").write_text('{"text": "other"}', encoding="utf-8")
    (truth / "metadata.json").write_text('{"title": "x"}', encoding="utf-8")
    engine = write_pages(tmp_path / "engine", {"1": "un"})
    (engine / "2.json").write_text('{"text": "deux"}', encoding="utf-8")
    run = hallumeter.transcripts([truth, engine])
    assert (pages_of(run), pooled_cer(run)) == (["1", "2"], 0)
    told = "\n".join(run.summary.notices)
    assert "such as 1.json: another file of the same page counts" in told
    assert "such as metadata.json: they hold no text of a page" in told


def test_damaged_json_is_a_page_that_cannot_be_read(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"1": "un", "2": "deux"})
    engine = write_pages(tmp_path / "engine", {"1": "un"})
    (engine / "2.json").write_text('{"text": "deu', encoding="utf-8")
    run = hallumeter.transcripts([truth, engine])
    assert pages_of(run) == ["1"]
    (failure,) = run.failures
    assert "2.json" in failure.message
    assert "is not valid JSON" in failure.message


def test_a_table_pairs_pages_whose_names_have_nothing_in_common(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"f1r": "un", "f1v": "deux", "f2r": "trois"})
    one = write_pages(tmp_path / "one", {"scan 1": "un", "scan 2": "deux"})
    two = write_pages(tmp_path / "two", {"b": "deux"})
    table = tmp_path / "pairs.csv"
    table.write_text("page,reference,one,two\nA,f1r.txt,scan 1,\nB,f1v,scan 2.txt,b\nC,f2r,scan 3,\n", encoding="utf-8")
    run = hallumeter.transcripts(
        [truth, one, two], settings=TranscriptSettings(pair_by=str(table)), out=tmp_path / "run"
    )
    assert (pages_of(run), pooled_cer(run)) == (["A@one", "B@one", "B@two"], 0)
    told = [failure.message for failure in run.failures]
    assert "pairs.csv:4: one has no page 'scan 3'; the nearest: scan 1, scan 2" in [
        message.replace("scan 2, scan 1", "scan 1, scan 2") for message in told
    ]
    assert run.manifest.settings["pair_by"] == "pairs.csv"


def test_a_table_of_pairs_may_have_a_row_for_each_reading(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"f1r": "un"})
    engines = [write_pages(tmp_path / name, {"x": "un"}) for name in ("one", "two")]
    rows = [{"reference": "f1r", "engine": name, "reading": "x"} for name in ("one", "two")]
    table = write_rows(tmp_path / "pairs.jsonl", rows)
    run = hallumeter.transcripts([truth, *engines], settings=TranscriptSettings(pair_by=str(table)))
    assert pages_of(run) == ["f1r@one", "f1r@two"]
    lone = write_rows(tmp_path / "lone.jsonl", [{"reference": "f1r", "reading": "x"}])
    assert pages_of(hallumeter.transcripts([truth, engines[0]], settings=TranscriptSettings(pair_by=str(lone)))) == [
        "f1r"
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"left": "f1r"}, r"pairs.jsonl:1: expected columns reference and reading, and perhaps page; found left"),
        (
            {"reference": "f1r", "engine": "three", "reading": "x"},
            r"names no engine; expected a column for each of one, two",
        ),
    ],
)
def test_a_table_that_says_too_little_is_refused(tmp_path: Path, row: dict[str, str], reason: str) -> None:
    truth = write_pages(tmp_path / "truth", {"f1r": "un"})
    engines = [write_pages(tmp_path / name, {"x": "un"}) for name in ("one", "two")]
    table = write_rows(tmp_path / "pairs.jsonl", [row])
    with pytest.raises(InputError, match=reason):
        hallumeter.transcripts([truth, *engines], settings=TranscriptSettings(pair_by=str(table)))
    with pytest.raises(InputError, match=r"nosuch.csv: no such table of pairs"):
        hallumeter.transcripts([truth, *engines], settings=TranscriptSettings(pair_by="nosuch.csv"))


def test_a_table_of_pairs_that_names_no_file_of_the_engine_says_which_column_it_lacks(tmp_path: Path) -> None:
    truth, engine = write_pages(tmp_path / "truth", {"f1r": "un"}), write_pages(tmp_path / "one", {"x": "un"})
    table = write_rows(tmp_path / "pairs.jsonl", [{"page": "A", "reference": "f1r", "tess": "x"}])
    with pytest.raises(InputError, match=r"expected a column one or reading with files; found page, reference, tess"):
        hallumeter.transcripts([truth, engine], settings=TranscriptSettings(pair_by=str(table)))
    write_rows(table, [{"page": "A", "reference": "f1r", "one": "nowhere"}])
    with pytest.raises(InputError, match=r"pairs.jsonl: pairs no page; pairs.jsonl:1: one has no page 'nowhere'"):
        hallumeter.transcripts([truth, engine], settings=TranscriptSettings(pair_by=str(table)))
