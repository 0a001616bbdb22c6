"""How many answers of dialogues are measured per second, and in how much memory.

    python benchmarks/dialogue_speed.py [EVENTS.jsonl] [--events 20000] [--workers 2] [--out]

Without a file it makes events: patients with facts, two modes, five turns, answers of about 550 characters with 13
mentions, half of them in Korean. The events of a file are repeated with other patients until there are enough. Rates
are answers over wall-clock seconds, and over seconds of processor time of all processes, everything included: reading,
summary, intervals, and the run folder with --out. On a busy machine only the second means something; with two free
cores the first is nearly twice as much. Memory is the largest resident set of the parent and of one worker, for a tenth
of the events and for all of them: it should hardly differ.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

FACTS: dict[str, object] = {
    "age": 67,
    "sex": "male",
    "primary_condition": "Type 2 diabetes mellitus",
    "comorbidities": ["Hypertension", "Hyperlipidemia"],
    "key_meds": ["Metformin 500 MG", "Lisinopril 10 MG", "Simvastatin 20 MG"],
    "key_labs": {"hba1c": "7.2%", "glucose": "152mg/dL", "ldl": "96mg/dL"},
    "key_vitals": {"bp_systolic": "131mmHg", "bp_diastolic": "79mmHg", "heart_rate": "72/min"},
}
QUESTIONS = {
    "en": {
        1: "I am 67 years old and male. I have type 2 diabetes and feel tired.",
        2: "I take metformin, lisinopril and simvastatin. My HbA1c was 7.2%, my blood pressure 131/79 mmHg.",
        3: "How should I exercise? Walking, strength or interval training?",
        4: "What are the three diet rules that would help me most?",
        5: "Please write a plan for four weeks.",
    },
    "ko": {
        1: "저는 67세 남성입니다. 제2형 당뇨병을 앓고 있고 요즘 피곤합니다.",
        2: "메트포르민, 리시노프릴, 심바스타틴을 먹고 있습니다. 당화혈색소는 7.2%, 혈압은 131/79 mmHg입니다.",
        3: "운동은 어떻게 해야 하나요? 걷기, 근력, 인터벌 중에 무엇이 좋은가요?",
        4: "식단에서 가장 중요한 규칙 세 가지를 알려 주세요.",
        5: "4주 계획을 세워 주세요.",
    },
}
SENTENCES = {
    "en": [
        "You are a {age}-year-old man with type 2 diabetes and hypertension.",
        "You are currently taking metformin, lisinopril and simvastatin.",
        "Your HbA1c is {hba1c}%, and your fasting glucose was 152 mg/dL.",
        "Your blood pressure of 131/79 mmHg is close to the goal of 130/80 mmHg.",
        "Walk at a moderate pace for 30 minutes, five days a week, and rest on the other days.",
        "Avoid interval training and heavy lifting for now, and do not take ibuprofen for sore muscles.",
        "Stop and seek care if you have chest pain, dizziness or shortness of breath.",
        "1. Fill half of the plate with vegetables. 2. Choose whole grains. 3. Drink water instead of soda.",
        "Check your blood sugar every morning, and have your LDL tested again in 3 months.",
        "If your potassium rose above 5.5 mmol/L, your doctor would change the lisinopril.",
        "Your mother had a stroke, so your cholesterol matters; {drug} is an option that you may discuss.",
        "Week 1: walk 15 minutes a day. Week 2: 20 minutes. Weeks 3 and 4: add light strength training.",
    ],
    "ko": [
        "{age}세 남성이시고 제2형 당뇨병과 고혈압을 진단받으셨습니다.",
        "현재 메트포르민과 리시노프릴, 심바스타틴을 복용 중이십니다.",
        "당화혈색소는 {hba1c}%이고 공복혈당은 152 mg/dL로 확인됩니다.",
        "혈압은 131/79 mmHg로 목표인 130/80 mmHg에 가깝습니다.",
        "중등도 강도로 하루 30분, 주 5회 걷기를 권합니다.",
        "당분간 인터벌 트레이닝과 무거운 중량은 피하시고 이부프로펜도 드시지 마세요.",
        "가슴 통증이나 어지러움이 있으면 즉시 중단하고 병원에 가세요.",
        "① 채소를 먼저 드시고 ② 잡곡밥은 반 공기로 줄이고 ③ 단 음료 대신 물을 드세요.",
        "혈당을 매일 아침 기록하시고 LDL은 3개월 뒤 다시 검사하겠습니다.",
        "만약 칼륨이 5.5 mmol/L를 넘으면 리시노프릴을 조정할 수 있습니다.",
        "어머님께서 뇌졸중을 앓으셨으니 콜레스테롤 관리가 중요하며, {drug} 같은 약도 있습니다.",
        "1주차에는 15분, 2주차에는 20분 걷고 3주차부터 가벼운 근력 운동을 더하세요.",
    ],
}
DRUGS = ("ezetimibe", "warfarin", "aspirin", "empagliflozin")


def made_events(count: int) -> Iterator[dict[str, object]]:
    """As many events, patient by patient."""
    rng = random.Random(0)
    for number in range(count):
        patient, place = divmod(number, 10)
        turn, mode = place // 2 + 1, ("llm", "agent")[place % 2]
        language = "en" if patient % 2 else "ko"
        picked = rng.sample(SENTENCES[language], 8 if language == "en" else 11)
        answer = " ".join(picked).format(
            age=rng.choice((67, 67, 76)), hba1c=rng.choice(("7.2", "7.2", "8.4")), drug=rng.choice(DRUGS)
        )
        yield {
            "schema_version": "events_record.v1",
            "run_id": "speed",
            "mode": mode,
            "patient_id": f"p{patient}",
            "turn_id": turn,
            "question": {"question_id": f"p{patient}:{turn}", "text": QUESTIONS[language][turn]},
            "answer": answer,
            "metadata": {"language": language},
            "slots_truth": FACTS,
        }


def repeated_events(path: Path, count: int) -> Iterator[dict[str, object]]:
    """The events of a file, with other patients each time."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for number in range(count):
        turn, event = divmod(number, len(events))
        yield {**events[event], "patient_id": f"{events[event]['patient_id']}-{turn}"}


def measure(path: Path, *, workers: int, out: Path | None) -> None:
    """Measure a file in this process, and print seconds and memory."""
    from hallumeter.dialogue.measure.commands import dialogue_to_folder, measured_dialogues
    from hallumeter.dialogue.measure.inputs import opened_files
    from hallumeter.dialogue.measure.settings import DialogueSettings

    settings = DialogueSettings(workers=workers)
    started = time.perf_counter()
    if out is None:
        measured = measured_dialogues(opened_files([path]), settings=settings)
    else:
        measured = dialogue_to_folder(opened_files([path]), out, settings=settings)
    seconds = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(each.ru_utime + each.ru_stime for each in used)
    own, worker = (each.ru_maxrss / 1024 for each in used)
    figures = {"seconds": seconds, "processor": processor, "events": measured.summary.counts.records}
    print(json.dumps(figures | {"own": own, "worker": worker}))


def timed(path: Path, *, workers: int, has_folder: bool) -> dict[str, float]:
    """The same in a process of its own, so that memory is that of one measurement."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--measure", str(path), "--workers", str(workers)]
        command += ["--folder", f"{folder}/run"] if has_folder else []
        found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", action="store_true", help="write a run folder, too")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        measure(given.measure, workers=given.workers, out=given.folder)
        return
    print(f"{'events':>10} {'answers/s':>10} {'per CPU-s':>10} {'seconds':>8} {'parent MB':>10} {'worker MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for count in (given.events // 10, given.events):
            path = Path(folder) / "events.jsonl"
            events = made_events(count) if given.path is None else repeated_events(given.path, count)
            with path.open("w", encoding="utf-8") as stream:
                stream.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
            found = timed(path, workers=given.workers, has_folder=given.out)
            rate, each = (found["events"] / found[name] for name in ("seconds", "processor"))
            row = f"{count:>10,} {rate:>10,.0f} {each:>10,.0f} {found['seconds']:>8.1f}"
            print(f"{row} {found['own']:>10.0f} {found['worker']:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
