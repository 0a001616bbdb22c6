"""Images stand beside what was read from them: in the report small, in the viewer whole, and nothing else is sent."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image
from viewer_client import eventually, serving

from hallumeter import InputError
from hallumeter.cli.main import main
from hallumeter.formats.images import converted, image_type
from hallumeter.transcripts.images import page_images
from hallumeter.transcripts.pages.mets import local_path
from hallumeter.transcripts.report.thumbnails import THUMBNAIL_SIZE, thumbnail
from transcript_folders import write_pages


def draw(path: Path, size: tuple[int, int] = (900, 1200)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "#eeddcc").save(path)
    return path


def measured(folder: Path, images: Path) -> Result:
    truth = write_pages(folder / "truth", {"1": "le roi", "2": "de france"})
    engine = write_pages(folder / "engine", {"1": "le roy", "2": "de france et de navarre et des indes"})
    given = [str(truth), str(engine), "--images", str(images), "--out", str(folder / "run")]
    return CliRunner().invoke(main, ["transcripts", *given])


def asked(address: str, path: str) -> tuple[int, str, bytes]:
    try:
        with urllib.request.urlopen(address + path) as answer:
            return answer.status, answer.headers["content-type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["content-type"], error.read()


def test_the_viewer_sends_whole_images_and_nothing_that_is_none(tmp_path: Path) -> None:
    draw(tmp_path / "scans" / "1.jpg")
    draw(tmp_path / "scans" / "2.tif")
    done = measured(tmp_path, tmp_path / "scans")
    assert done.exit_code == 0, done.output
    records = [
        json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [Path(record["fields"]["image"]).name for record in records] == ["1.jpg", "2.tif"]
    with serving(tmp_path / "run") as asker:
        own = asker.address + asker.only_run()
        assert eventually(lambda: asked(own, "records/0")[0] == 200)
        status, kind, data = asked(own, "records/0/image")
        assert (status, kind, data) == (200, "image/jpeg", (tmp_path / "scans" / "1.jpg").read_bytes())
        status, kind, data = asked(own, "records/1/image")
        assert (status, kind, Image.open(BytesIO(data)).size) == (200, "image/png", (900, 1200))
        block = json.loads(asked(own, "records/0")[2])
        assert (block["images"], block["readings"][0]["i"]) == (["records/0/image"], 0)
        for path in (
            "records/7/image",
            "records/-1/image",
            "records/0/image/..%2f..%2fmanifest.json",
            "records/%2e%2e/image",
        ):
            assert asked(own, path)[0] == 404
        (tmp_path / "scans" / "1.jpg").write_bytes(b"<svg onload=alert(1)>secret")
        status, kind, data = asked(own, "records/0/image")
        assert (status, b"secret" in data) == (415, False)
        (tmp_path / "scans" / "1.jpg").unlink()
        assert asked(own, "records/0/image")[0] == 404


def test_the_report_holds_small_images_each_once_and_no_path(tmp_path: Path) -> None:
    image = draw(tmp_path / "scans" / "1.png")
    small = thumbnail(image)
    assert small is not None
    assert small.startswith("data:image/jpeg;base64,")
    assert measured(tmp_path, tmp_path / "scans").exit_code == 0
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert str(tmp_path) not in report
    assert "img-src data:" in report
    summary = json.loads((tmp_path / "run" / "summary.json").read_bytes())
    assert "pages without an image: 1, such as 2" in summary["notices"]


def test_a_thumbnail_is_small_and_only_of_an_image(tmp_path: Path) -> None:
    with Image.open(
        BytesIO(converted(draw(tmp_path / "a.png").read_bytes(), "JPEG", largest=THUMBNAIL_SIZE) or b"")
    ) as small:
        assert small.size == (560, 747)
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    (tmp_path / "c.png").write_bytes(b"secret")
    assert [thumbnail(tmp_path / name) for name in ("b.png", "c.png", "none.png")] == [None, None, None]
    with pytest.raises(InputError, match="cannot be converted"):
        converted(b"\x89PNG\r\n\x1a\n broken", "PNG")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBP", "image/webp"),
        (b"MM\0*", "image/tiff"),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_an_image_is_known_by_its_bytes(data: bytes, kind: str | None) -> None:
    assert image_type(data) == kind


VERSION_2 = {
    "sequences": [
        {
            "canvases": [
                {"@id": "https://x.org/c/f1", "label": "f. 1r", "images": [{"resource": {"@id": "scans/a.png"}}]},
                {
                    "@id": "https://x.org/c/f2",
                    "label": "f. 1v",
                    "images": [{"resource": {"@id": "https://x.org/b.jpg"}}],
                },
            ]
        }
    ]
}
VERSION_3 = {
    "items": [
        {
            "id": "https://x.org/c/f1",
            "label": {"none": ["f. 1r"]},
            "items": [{"items": [{"body": {"id": "scans/a.png", "type": "Image"}}]}],
        },
        {
            "id": "https://x.org/c/f2",
            "label": {"none": ["f. 1v"]},
            "items": [{"items": [{"body": [{"id": "../out.png"}]}]}],
        },
        {"id": "https://x.org/c/f3"},
    ]
}


@pytest.mark.parametrize("manifest", [VERSION_2, VERSION_3])
def test_a_manifest_names_pages_and_images_on_disk(tmp_path: Path, manifest: dict[str, object]) -> None:
    image = draw(tmp_path / "in" / "scans" / "a.png")
    draw(tmp_path / "out.png")
    path = tmp_path / "in" / "manifest.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    images, notices = page_images(path)
    assert images == dict.fromkeys(["f. 1r", "f1", "a"], image.resolve())
    assert len(notices) == 1
    assert "1 of 2 images are not on disk in its folder" in notices[0]
    assert notices[0].endswith("nothing is downloaded")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not valid JSON"),
        ("[]", "names no image; expected a IIIF Presentation manifest of version 2 or 3"),
        ('{"items": [{"items": [{"items": [{"body": {"id": "https://x.org/a.jpg"}}]}]}]}', "names no image on disk"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"manifest.json: {reason}"):
        page_images(tmp_path / "manifest.json")


def test_mets_names_images_by_page(tmp_path: Path) -> None:
    image = draw(tmp_path / "IMG" / "x7.png")
    (tmp_path / "mets.xml").write_text(
        """<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><fileSec>
        <fileGrp USE="IMG"><file ID="i1"><FLocat xlink:href="IMG/x7.png"/></file></fileGrp></fileSec>
        <structMap TYPE="PHYSICAL"><div><div ID="P1"><fptr FILEID="i1"/></div></div></structMap></mets>""",
        encoding="utf-8",
    )
    for path in (tmp_path / "mets.xml", tmp_path / "mets.xml#IMG"):
        assert page_images(path) == (dict.fromkeys(["P1", "x7"], image.resolve()), [])


def test_images_need_a_run_folder(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"1": "le roi"})
    done = CliRunner().invoke(main, ["transcripts", str(truth), str(truth), "--images", str(tmp_path)])
    assert done.exit_code == 2
    assert "--images shows pages in the report of a run; give --out RUN too" in done.output


def test_an_address_that_is_none_names_no_file(tmp_path: Path) -> None:
    assert local_path("https://a.]]>example/p1.jpg", tmp_path) is None
