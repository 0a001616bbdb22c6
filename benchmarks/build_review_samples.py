"""Make the bundled English reviews: sentences of MAMS with the aspect terms and polarities that people marked.

    python benchmarks/build_review_samples.py MAMS-ATSA_val.xml

Chooses sentences by a fixed seed and writes the same bytes every time. They come from the validation part, on which
the English reader was not trained.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

from defusedxml import ElementTree

COUNT = 60
SEED = 60
TARGET = Path(__file__).parents[1] / "src" / "hallumeter" / "samples" / "reviews" / "mams_en.jsonl"


def row(number: int, element: Any) -> dict[str, Any]:
    """One sentence with its marked terms, in the order in which they stand."""
    text = element.findtext("text")
    terms = sorted(element.iter("aspectTerm"), key=lambda term: int(term.get("from")))
    tuples = []
    for term in terms:
        start, end = int(term.get("from")), int(term.get("to"))
        assert text[start:end] == term.get("term"), f"sentence {number}: the offsets do not fit {term.get('term')!r}"
        span = {"start": start, "end": end}
        tuples.append({"aspect_term": term.get("term"), "polarity": term.get("polarity"), "span": span})
    return {
        "text_id": f"mams-val-{number:03d}",
        "text": text,
        "language": "en",
        "domain": "restaurant",
        "gold_tuples": tuples,
    }


def main(path: str) -> None:
    """Write the sample."""
    root = ElementTree.parse(path).getroot()
    assert root is not None
    elements = list(root)
    chosen = sorted(random.Random(SEED).sample(range(len(elements)), COUNT))
    lines = [json.dumps(row(number, elements[number]), ensure_ascii=False) for number in chosen]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(lines)} sentences")


if __name__ == "__main__":
    main(*sys.argv[1:])
