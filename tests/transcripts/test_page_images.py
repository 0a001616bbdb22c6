"""Images stand beside what was read from them: in the report small, in the viewer whole, and nothing else is sent."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner, Result
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect
from viewer_client import eventually, serving

from browsing import Visit, needs_browser
from hallumeter import InputError
from hallumeter.cli.main import main
from hallumeter.formats.images import converted, image_type
from hallumeter.transcripts.downloads import ImageDownloads
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
    assert notices[0].endswith("nothing is downloaded unless you add --allow-downloads")


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


# Where a line stands on the image.


def placed_run(folder: Path) -> Path:
    """A page with two lines, of which the second was misread, in PAGE XML and in hOCR."""
    draw(folder / "scans" / "1.png", (100, 200))
    lines = "".join(
        f"<TextLine><Coords points='10,{top} 60,{top} 60,{top + 10} 10,{top + 10}'/>"
        f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
        for top, text in ((20, "le roi de france"), (120, "est mort hier soir"))
    )
    (folder / "truth").mkdir()
    (folder / "truth" / "1.xml").write_text(
        f"<PcGts><Page imageWidth='100' imageHeight='200'><TextRegion>{lines}</TextRegion></Page></PcGts>",
        encoding="utf-8",
    )
    (folder / "engine").mkdir()
    hocr = "".join(
        f"<span class='ocr_line' title='bbox 10 {top} 60 {top + 10}'>{text}</span>"
        for top, text in ((20, "le roi de france"), (120, "est mort hyer soir"), (160, "a Tours en 1843 dit Pierre"))
    )
    (folder / "engine" / "1.hocr").write_text(
        f"<div class='ocr_page' title='bbox 0 0 100 200'>{hocr}</div>", encoding="utf-8"
    )
    given = [str(folder / name) for name in ("truth", "engine")]
    options = ["--images", str(folder / "scans"), "--out", str(folder / "run"), "--workers", "1"]
    done = CliRunner().invoke(main, ["transcripts", *given, *options])
    assert done.exit_code == 0, done.output
    return folder / "run"


def marked(page: Page) -> list[list[int]]:
    """Top and height of what is marked on the image, in hundredths of it."""
    # Asked in one go: the page may be drawn anew between two questions, and the image come after its mark.
    found = page.wait_for_function(
        """() => { const image = document.querySelector(".zoom img"), marks = [...document.querySelectorAll(".region")];
        if (!image || !image.complete || !image.naturalHeight || !marks.length) return null;
        const whole = image.getBoundingClientRect();
        return whole.height > 0 && marks.map((node) => { const own = node.getBoundingClientRect();
        return [own.top - whole.top, own.height].map((size) => Math.round(100 * size / whole.height)); }) }"""
    )
    marks: list[list[int]] = found.json_value()
    return marks


@needs_browser
def test_a_line_and_a_finding_are_marked_on_the_image(tmp_path: Path, browser: Browser) -> None:
    run = placed_run(tmp_path)
    visit = Visit(browser, run / "report.html")
    page = visit.page
    # A line of the table of worst lines.
    page.locator("tr[data-line] a.behind").first.click()
    assert marked(page) == [[60, 5]]
    # Invented text stands where the engine says that it read it.
    page.locator("tr[data-response] a.behind").first.click()
    page.locator(".stretch.block.chosen").first.wait_for()
    assert marked(page) == [[80, 5]]
    # On the enlarged image the mark keeps its place.
    page.locator(".zoom").click()
    assert marked(page) == [[80, 5]]
    assert visit.complaints == []
    with serving(run) as asker:
        served = browser.new_page()
        served.goto(asker.address + asker.only_run())
        served.locator("tr[data-line] a.behind[aria-label]").first.click()
        assert marked(served) == [[60, 5]]
        served.close()


@needs_browser
def test_a_line_asked_for_while_its_page_is_on_its_way_is_marked(tmp_path: Path, browser: Browser) -> None:
    with serving(placed_run(tmp_path)) as asker:
        page = browser.new_page()
        held: list[Route] = []
        # Of the list, the first page, the list again and the page that is asked for.
        is_held = iter([False, True, True, False])
        asked = re.compile(r"/records(\?|/\d+$)")
        page.route(asked, lambda route: held.append(route) if next(is_held) else route.continue_())
        page.goto(asker.address + asker.only_run())
        while not held:
            page.wait_for_timeout(20)
        page.locator("tr[data-line] a.behind[aria-label]").first.click()
        while len(held) < 2:
            page.wait_for_timeout(20)
        first, listed = held
        first.continue_()
        page.wait_for_timeout(300)  # enough to draw the first page, were it still wanted
        listed.continue_()
        expect(page.locator("[aria-busy]")).to_have_count(0)
        assert marked(page) == [[60, 5]]
        page.close()


# Images on the web, from a server of this machine.

PIXELS = BytesIO()
Image.new("RGB", (90, 120), "#eeddcc").save(PIXELS, "PNG")


class Archive(BaseHTTPRequestHandler):
    """A few answers, right and wrong, and a list of what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, kind, body = {
            "/1.png": (200, "image/png", PIXELS.getvalue()),
            "/page.html": (200, "text/html", b"<p>log in</p>"),
            "/lie.png": (200, "image/png", b"<svg onload=alert(1)>"),
            "/large.png": (200, "image/png", PIXELS.getvalue() + b"0" * 5_000),
            "/moved.png": (302, "image/png", b""),
            "/slow.png": (200, "image/png", b""),
        }.get(self.path, (404, "text/plain", b"none"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status == 302:
            self.send_header("Location", "/1.png")
        self.end_headers()
        with suppress(OSError):  # who waited for it has gone
            for _ in range(40 * (self.path == "/slow.png")):
                self.wfile.write(b"0")
                time.sleep(0.05)
            self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("HALLUMETER_CACHE", str(tmp_path / "cache"))
    Archive.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Archive)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def manifest_of(folder: Path, images: dict[str, str]) -> Path:
    items = [
        {"id": f"https://x.org/c/{page}", "items": [{"items": [{"body": {"id": image}}]}]}
        for page, image in images.items()
    ]
    path = folder / "manifest.json"
    path.write_text(json.dumps({"items": items}), encoding="utf-8")
    return path


def with_downloads(folder: Path, images: Path, *options: str) -> Result:
    truth = write_pages(folder / "truth", {"1": "le roi", "2": "de france"})
    given = [str(truth), str(truth), "--images", str(images), "--out", str(folder / "run"), "--workers", "1"]
    return CliRunner().invoke(main, ["transcripts", *given, *options])


def test_an_image_on_the_web_is_fetched_once_and_only_when_that_was_typed(tmp_path: Path, archive: str) -> None:
    manifest = manifest_of(tmp_path, {"1": f"{archive}/1.png"})
    refused = with_downloads(tmp_path, manifest)
    assert refused.exit_code == 2
    assert "nothing is downloaded unless you add --allow-downloads" in refused.output
    assert Archive.asked == []
    for _ in range(2):
        done = with_downloads(tmp_path, manifest, "--allow-downloads")
        assert done.exit_code == 0, done.output
        first, *_ = (tmp_path / "run" / "records.jsonl").read_text(encoding="utf-8").splitlines()
        image = Path(json.loads(first)["fields"]["image"])
        assert (image.parent, image.read_bytes()) == (tmp_path / "cache" / "images", PIXELS.getvalue())
        assert "data:image/jpeg;base64," in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
        shutil.rmtree(tmp_path / "run")
    assert Archive.asked == ["/1.png"]
    cleared = CliRunner().invoke(main, ["cache", "--clear"])
    assert cleared.exit_code == 0
    assert not image.exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("page.html", "the server sent text/html, not an image"),
        ("lie.png", "is no image that can be shown"),
        ("moved.png", "the server answered 302; redirects are not followed"),
        ("none.png", "the server answered 404"),
    ],
)
def test_what_is_no_image_costs_one_line_and_the_page_goes_on(
    tmp_path: Path, archive: str, name: str, reason: str
) -> None:
    manifest = manifest_of(tmp_path, {"1": f"{archive}/{name}", "2": f"{archive}/1.png"})
    done = with_downloads(tmp_path, manifest, "--allow-downloads")
    assert done.exit_code == 0, done.output
    notices = json.loads((tmp_path / "run" / "summary.json").read_bytes())["notices"]
    assert f"page 1: no image: {archive}/{name}: {reason}" in notices
    assert Archive.asked == [f"/{name}", "/1.png"]
    lines = (tmp_path / "run" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["image" in json.loads(line)["fields"] for line in lines] == [False, True]


def test_an_image_that_is_too_large_or_too_slow_is_left(tmp_path: Path, archive: str) -> None:
    with pytest.raises(InputError, match="is larger than the 4,000 bytes that an image may have"):
        ImageDownloads(tmp_path, largest=4_000)(f"{archive}/large.png")
    with pytest.raises(InputError, match=r"took longer than 0\.3 seconds"):
        ImageDownloads(tmp_path, seconds=0.3)(f"{archive}/slow.png")
    assert list(tmp_path.glob("*.png")) == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://127.0.0.1:9/a.png", "cannot be fetched"),
        ("http://user:geheim@127.0.0.1/a.png", "an address with a name or password"),
        ("file:///etc/passwd", "is no address of an image on the web"),
        ("http://[::1/a.png", "is no address of an image on the web"),
    ],
)
def test_other_addresses_are_refused_in_one_line(tmp_path: Path, address: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        ImageDownloads(tmp_path)(address)
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_image_that_cannot_be_kept_is_told(tmp_path: Path, archive: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be kept in"):
        ImageDownloads(tmp_path / "file" / "images")(f"{archive}/1.png")


def test_downloads_without_images_are_refused(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"1": "le roi"})
    done = CliRunner().invoke(main, ["transcripts", str(truth), str(truth), "--allow-downloads"])
    assert done.exit_code == 2
    assert "--allow-downloads fetches page images; say of which pages with --images" in done.output
