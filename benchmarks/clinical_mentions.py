"""How fast clinical answers are read, and that it costs no more with a larger lexicon or, per character, a longer text.

    python benchmarks/clinical_mentions.py [--sizes 1 4 16] [--rounds N]

Reads one answer of about 600 characters with a dozen mentions in each language, with the lexicons as they ship and with
made-up names added until they are several times as large; then texts of up to a megabyte. Times are those of the
process on one core, the fastest of several rounds.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from hallumeter.dialogue.reading.lexicon import ClinicalTables, Condition, Drug, load_tables
from hallumeter.dialogue.reading.reader import ClinicalReader

ANSWERS = {
    "ko": (
        "귀하는 67세 남성으로 제2형 당뇨병과 고혈압을 진단받으셨고, 현재 메트포르민과 암로디핀을 복용 "
        "중이십니다. 최근 검사에서 당화혈색소는 7.8%, LDL 콜레스테롤은 112 mg/dL였으며 혈압은 148/92 mmHg로 "
        "목표보다 높은 편입니다. 우선 평지에서 빠르게 걷기를 하루 30분, 주 5회 실천해 보시기 바랍니다. 처음 "
        "2주는 옆 사람과 대화할 수 있을 정도의 강도로 시작하고, 익숙해지면 시간을 조금씩 늘려 주세요. 무릎이 "
        "아프실 때는 이부프로펜 같은 진통제는 피하시고 먼저 의료진과 상의하시는 것이 안전합니다. 운동 중에 "
        "가슴이 답답하거나 어지러우면 바로 멈추고 쉬셔야 하며, 증상이 5분 이상 계속되면 병원에 오세요. "
        "어머니께서 뇌졸중을 앓으셨으니 혈압을 매일 재서 적어 주세요. 식사는 채소와 단백질을 먼저 드시고 국물은 "
        "남기시면 도움이 됩니다. 물은 자주 조금씩 나누어 드시고, 운동 전후에는 가벼운 스트레칭을 10분 정도 해 "
        "주세요. 기록은 수첩에 적어 오시면 다음 진료 때 함께 살펴보고 계획을 조정하겠습니다. 꾸준히 하시면 "
        "좋아집니다."
    ),
    "en": (
        "You are a 67-year-old man with type 2 diabetes and hypertension, and you take metformin and amlodipine. "
        "Your HbA1c is 7.8%, your LDL is 112 mg/dL and your blood pressure was 148/92 mmHg, which is above the "
        "goal. Start with brisk walking for 30 minutes on five days a week, at a pace that still lets you talk. "
        "If your knees hurt, avoid ibuprofen and ask us first. Stop when you feel chest pressure or dizziness. "
        "Your mother had a stroke, so write down your blood pressure every day. Eat vegetables first and leave "
        "the soup. We will look at your notes together next time and adjust the plan with care."
    ),
}
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)


def shuffled(names: Iterable[str], rng: random.Random) -> tuple[str, ...]:
    """Names that do not exist, of the same letters and lengths."""
    return tuple("".join(rng.sample(name, len(name))) + rng.choice("xqzwj갸쥬뵤") for name in names)


def enlarged(tables: ClinicalTables, size: int, rng: random.Random) -> ClinicalTables:
    """The lexicons with made-up names, so many times as large."""
    drugs, conditions = list(tables.drugs), list(tables.conditions)
    for copy in range(1, size):
        drugs += [Drug(f"{each.name} {copy}", shuffled(each.names, rng), each.classes) for each in tables.drugs]
        conditions += [Condition(f"{each.name} {copy}", shuffled(each.names, rng), ()) for each in tables.conditions]
    return replace(tables, drugs=tuple(drugs), conditions=tuple(conditions))


def seconds(work: Callable[[], object], *, rounds: int, repeats: int) -> float:
    """The time of one call, the fastest of the rounds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - started) / repeats)
    return best


def measure_sizes(sizes: list[int], rounds: int) -> None:
    """Print the time of an answer for each size of the lexicons."""
    for size in sizes:
        tables = enlarged(load_tables(), size, random.Random(7))
        names = sum(len(drug.names) for drug in tables.drugs) + sum(len(each.names) for each in tables.conditions)
        reader = ClinicalReader(tables)
        for language, text in ANSWERS.items():
            found = sum(len(mention.occurrences) for mention in reader.read(text).mentions)
            took = seconds(lambda: reader.read(text), rounds=rounds, repeats=50)  # noqa: B023 - called at once
            print(
                f"lexicons x{size:<2} {names:>7,} names of drugs and conditions · {language} {len(text)} characters, "
                f"{found} occurrences: {took * 1e3:.3f} ms"
            )


def measure_lengths() -> None:
    """Print the time per character of longer and longer texts."""
    reader = ClinicalReader()
    for language, text in ANSWERS.items():
        for length in LENGTHS:
            long = (f"{text}\n" * (length // len(text) + 1))[:length]
            took = seconds(lambda: reader.read(long), rounds=2, repeats=1)  # noqa: B023 - called at once
            print(f"{language} {length:>9,} characters: {took:8.3f} s, {took / length * 1e6:.3f} µs a character")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description="How fast clinical answers are read.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    measure_sizes(options.sizes, options.rounds)
    measure_lengths()


if __name__ == "__main__":
    main()
