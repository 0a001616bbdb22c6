"""Compare OCR engines with a ground truth: what did each invent, repeat and leave out?

The pages ship with hallumeter: newspaper articles, their OCR, and what a small language model made of it. Folders of
text, ALTO, PAGE XML or hOCR files of your own can take their place.
"""

from importlib.resources import as_file, files

import hallumeter

with as_file(files("hallumeter.samples") / "newspapers") as folder:
    engines = [folder / name for name in ("newspaper-ocr", "smollm2", "smollm2-penalized")]
    run = hallumeter.transcripts([folder / "truth", *engines])

print("Share of what each engine wrote that stands nowhere on the page, in blocks and loops:\n")
for row in run.summary.metrics:
    if row.metric == "invented_rate" and row.by and row.value is not None and row.interval is not None:
        low, high = row.interval
        counts = f"{row.count:4.0f} of {row.total:4.0f} words"
        print(f"  {row.by['engine']:18} {counts}  {row.value:6.1%}  ({low:.1%} to {high:.1%})")

print("\nThe longest thing that was made up, where it stands:\n")
invented = [finding.claim for finding in run.findings() if finding.claim.kind == "block"]
longest = max(invented, key=lambda claim: claim.weight)
print(f"  {longest.record_id}, characters {longest.start} to {longest.end}: {(longest.text or '')[:200]!r}")

worst = max(run.pages(), key=lambda page: page.loop_rate or 0)
print(f"\nThe worst loop: {worst.page} by {worst.engine}, {worst.loop_rate:.0%} of its words.")
