"""How well refusals are told from answers and from partial refusals, in English, French and Korean.

    python benchmarks/abstention_detection.py [--part wide|native|last|drawn|fresh|held-back|later|development|all]
                                              [--errors]
    python benchmarks/abstention_detection.py --factscore DIR
    python benchmarks/abstention_detection.py --reviews DIR

The first command reads ``abstention_labels/answers.jsonl`` beside this file: answers of chat models to questions of
RAGTruth, HaluEval, FActScore, RefChecker, ExpertQA and Factcheck-GPT, and answers written for this measurement. Each
was labelled before the detector was changed: `refusal` says nothing about what was asked, `partial` refuses a part and
answers all the same, `answer` refuses nothing; what two readers could call differently is `unclear` and left out. A
third is held back: the texts whose SHA-256 begins with a byte that 3 divides. Errors are printed of the others only.
``later_answers.jsonl`` has 160 more in English, written and labelled before the next change, by somebody who knew the
totals of the first set and not its held-back texts. Of these two thirds are held back (`--part later`): the texts whose
byte 3 does not divide.
``drawn_held_back.jsonl`` and ``drawn_development.jsonl`` were drawn by hash of their ids from all answers of RAGTruth,
HaluEval, RefChecker and ExpertQA that were not in the first set: at random, and more often where a broad list of
negations and apologies matches their beginning. They were labelled before the next change. The French and Korean ones
were written in the wording of clerks, guides, friends and documents, without a look at the cues; half by hash is held
back (`--part drawn`). The development part has TOFU's 100 ways to say "I don't know", too, and half of them in French
and Korean.
``fresh_answers.jsonl`` has 501 in the three languages, mostly near misses, of which a third is held back like that of
the first set (`--part fresh`). It was printed once; since then it served development. ``last_answers.jsonl`` was
written and labelled after that and before the next change, in free wordings, and is held back as a whole.
``native_held_back.jsonl`` and ``native_answers.jsonl`` are answers in French and Korean in the wording of chat models,
support bots and systems that answer from documents, written natively and labelled before the next change by somebody
who did not know the detector. A third by hash of the text was held back and printed once (`--part native`); the rest
served development. The field `style` says what each answer is: a question back, a near miss, advice.
``wide_held_back.jsonl`` and ``wide_answers.jsonl`` are 800 realistic answers in each language, as chat models, systems
that answer from documents, support bots, help desks and assistants write them, in the proportions in which they do.
They were written natively and labelled before the next change, by two writers for each language who did not know the
detector. A third by hash of the text was held back, and printed once before that change and twice after it
(`--part wide`). ``more_answers.jsonl`` has answers by other writers, and texts that answer nobody; they were written to
learn from, in German, too. ``real_answers.jsonl`` has more answers of RAGTruth, HaluEval, RefChecker and ExpertQA, most
of them such as an earlier fit was unsure of. ``trap_answers.jsonl`` has the answers of the tests, and greetings. The
weights of the detector are fitted to what is for development (``training/refusals.py``), and to nothing that is held
back.

The second counts on the human annotations of FActScore (Min et al. 2023, MIT licence, not bundled). A row of
``ChatGPT.jsonl`` or ``InstructGPT.jsonl`` without annotations is a response that its annotators marked as an
abstention.

The third counts sentences of M-ABSA's reviews that are taken for refusals: none of them answers a question.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.stats.intervals import wilson_interval
from hallumeter.text.abstention import Abstention, AbstentionDetector

LABELS = Path(__file__).parent / "abstention_labels"
PARTS = {
    "last_answers": "last",
    "drawn_held_back": "drawn",
    "drawn_development": "development",
    "native_held_back": "native",
    "native_answers": "development",
    "wide_held_back": "wide",
    "wide_answers": "development",
    "more_answers": "development",
    "trap_answers": "development",
    "real_answers": "development",
}
"""The part of all answers of a file; those of the other files have theirs from the hashes of their texts."""
LANGUAGES = {"later": ("en",), "native": ("fr", "ko")}
"""The languages of a part that does not have all three."""
MODELS = ("ChatGPT", "InstructGPT")


class Answer(Struct):
    """An answer and what it was found to be by a reader."""

    id: str
    language: str
    source: str
    label: str
    text: str
    drawn: str = ""

    @property
    def part(self) -> str:
        """Whether the text was kept unseen while the detector was changed, and which time."""
        if self.drawn:
            return self.drawn
        is_third = hashlib.sha256(self.text.encode()).digest()[0] % 3 == 0
        if self.id.startswith("later:"):
            return "development" if is_third else "later"
        if self.id.startswith("fresh:"):
            return "fresh" if is_third else "development"
        return "held-back" if is_third else "development"


class Biography(Struct):
    """A biography, or a refusal to write one."""

    topic: str
    output: str
    annotations: list[msgspec.Raw] | None


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    if interval is None:
        return "none to count"
    return f"{count} of {total} = {count / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def found_label(found: Abstention) -> str:
    """The label that the detector gives."""
    return "refusal" if found.did_abstain else "partial" if found.is_partial else "answer"


def report_answers(title: str, pairs: list[tuple[Answer, str]]) -> None:
    """Print recall and precision of refusals and of partial refusals."""
    print(f"{title}: {len(pairs)} answers")
    for label in ("refusal", "partial"):
        right = sum(answer.label == found == label for answer, found in pairs)
        print(f"  {label:8} recall     {share(right, sum(answer.label == label for answer, _ in pairs))}")
        print(f"  {label:8} precision  {share(right, sum(found == label for _, found in pairs))}")


def read_answers() -> list[Answer]:
    """All labelled answers, each with the part that it belongs to."""
    answers: list[Answer] = []
    for path in sorted(LABELS.glob("*.jsonl")):
        for line in path.open("rb"):
            answer = msgspec.json.decode(line, type=Answer)
            answer.drawn = PARTS.get(path.stem, "")
            answers.append(answer)
    return answers


def measure_answers(part: str, *, with_errors: bool) -> None:
    """Print the figures of the labelled answers, by language and for those of models alone."""
    detector = AbstentionDetector()
    chosen = [answer for answer in read_answers() if answer.label != "unclear" and part in {"all", answer.part}]
    started = time.process_time()
    pairs = [(answer, found_label(detector.detect(answer.text))) for answer in chosen]
    print(f"{part}: {len(pairs) / (time.process_time() - started):,.0f} answers per second")
    for language in LANGUAGES.get(part, ("en", "fr", "ko")):
        report_answers(language, [pair for pair in pairs if pair[0].language == language])
    if part in {"held-back", "development", "all"}:
        report_answers("en, of models", [pair for pair in pairs if pair[0].source not in {"written", "tofu"}])
    for answer, found in pairs if with_errors else ():
        if found != answer.label and answer.part == "development":
            print(f"  - {answer.id}: {answer.label}, found {found}: {answer.text[:200]!r}")


def measure_biographies(folder: Path) -> None:
    """Print recall and false alarms on the biographies of FActScore."""
    detector = AbstentionDetector()
    for model in MODELS:
        lines = (folder / f"{model}.jsonl").read_bytes().splitlines()
        rows = [msgspec.json.decode(line, type=Biography) for line in lines]
        refused = [detector.detect(row.output).did_abstain for row in rows if row.annotations is None]
        answered = [detector.detect(row.output).did_abstain for row in rows if row.annotations is not None]
        print(f"{model}: {len(rows)} responses")
        print(f"  refusals found   {share(sum(refused), len(refused))}")
        print(f"  false alarms     {share(sum(answered), len(answered))}")


def measure_reviews(folder: Path) -> None:
    """Print how many sentences of reviews are taken for refusals."""
    detector = AbstentionDetector()
    for language in ("en", "ko"):
        lines = [line for path in sorted(folder.glob(f"*_{language}_*.txt")) for line in path.open(encoding="utf-8")]
        sentences = [sentence for line in lines if (sentence := line.partition("####")[0].strip())]
        taken = sum(detector.detect(sentence).did_abstain for sentence in sentences)
        print(f"{language}: taken for refusals {share(taken, len(sentences))}")


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--part",
        choices=["wide", "native", "last", "drawn", "fresh", "held-back", "later", "development", "all"],
        default="wide",
    )
    parser.add_argument("--errors", action="store_true", help="print development answers that are judged wrongly")
    parser.add_argument("--factscore", type=Path, metavar="DIR", help="count on FActScore's biographies instead")
    parser.add_argument("--reviews", type=Path, metavar="DIR", help="count on sentences of M-ABSA instead")
    options = parser.parse_args()
    if options.factscore is not None:
        measure_biographies(options.factscore)
    elif options.reviews is not None:
        measure_reviews(options.reviews)
    else:
        measure_answers(options.part, with_errors=options.errors)


if __name__ == "__main__":
    main()
