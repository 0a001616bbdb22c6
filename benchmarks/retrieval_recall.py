"""Does a search find the source that a claim was written from? And how fast is a knowledge base indexed?

    python benchmarks/retrieval_recall.py DATA

DATA holds ragtruth, wice and scifact_rte. All sources of a set are one knowledge base; the queries are claims of WiCE
and SciFact that their evidence supports, and sentences of RAGTruth answers without a marked hallucination; a query is
answered when a passage of its own source is among the first five. The last table asks 20 questions of our own in
English, French and Korean on passages in English.
"""

import csv
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from hallumeter.claims.retrieval.search import Hit, KnowledgeBase, open_knowledge_base
from hallumeter.stats.intervals import wilson_interval
from hallumeter.text.sentences import sentence_spans

Query = tuple[str, str]
"""A text, and the name of the document it was written from."""
MOST_QUERIES = 1_000
TOP = 5
FEWEST_WORDS = 6
"""Shorter sentences, such as greetings, name nothing that could be found."""

TOPICS = (
    (
        "The Eiffel Tower in Paris was completed in 1889 and is 330 metres tall.",
        "How tall is the Eiffel Tower?",
        "Quelle est la hauteur de la tour Eiffel ?",
        "에펠탑의 높이는 얼마인가요?",
    ),
    (
        "Photosynthesis turns sunlight, water and carbon dioxide into sugar and oxygen in the leaves of plants.",
        "What do plants make from sunlight?",
        "Que produisent les plantes avec la lumière du soleil ?",
        "식물은 햇빛으로 무엇을 만드나요?",
    ),
    (
        "Metformin is the first medicine given to most adults with type 2 diabetes.",
        "Which drug is used first for diabetes?",
        "Quel médicament donne-t-on en premier contre le diabète ?",
        "당뇨병에 가장 먼저 쓰는 약은 무엇인가요?",
    ),
    (
        "The central bank raised its interest rate by a quarter of a percentage point to slow inflation.",
        "Why did the bank raise rates?",
        "Pourquoi la banque centrale a-t-elle relevé ses taux ?",
        "중앙은행은 왜 금리를 올렸나요?",
    ),
    (
        "Vaccines against measles are given to children in two doses, the first at about one year of age.",
        "When do children get the measles vaccine?",
        "Quand les enfants sont-ils vaccinés contre la rougeole ?",
        "아이들은 언제 홍역 예방 접종을 받나요?",
    ),
    (
        "The whale is the largest animal in the ocean and breathes air through a blowhole.",
        "How does a whale breathe?",
        "Comment la baleine respire-t-elle ?",
        "고래는 어떻게 숨을 쉬나요?",
    ),
    (
        "Bread dough rises because yeast makes gas from sugar while it rests in a warm kitchen.",
        "Why does bread rise?",
        "Pourquoi le pain lève-t-il ?",
        "빵은 왜 부풀어 오르나요?",
    ),
    (
        "The football team won the championship after a goal in the last minute of the final match.",
        "Who won the final match?",
        "Qui a gagné la finale de football ?",
        "축구 결승전은 누가 이겼나요?",
    ),
    (
        "A strong earthquake destroyed hundreds of houses on the island early on Monday morning.",
        "What did the earthquake destroy?",
        "Qu'est-ce que le tremblement de terre a détruit ?",
        "지진으로 무엇이 무너졌나요?",
    ),
    (
        "The new train links the capital with the coast in less than two hours.",
        "How long does the train take to the coast?",
        "Combien de temps met le train jusqu'à la côte ?",
        "기차로 해안까지 얼마나 걸리나요?",
    ),
    (
        "Antibiotics kill bacteria but have no effect on viruses such as influenza.",
        "Do antibiotics work against the flu?",
        "Les antibiotiques agissent-ils contre la grippe ?",
        "항생제는 독감에 효과가 있나요?",
    ),
    (
        "The museum is closed on Tuesdays and free for visitors under eighteen.",
        "On which day is the museum closed?",
        "Quel jour le musée est-il fermé ?",
        "박물관은 무슨 요일에 닫나요?",
    ),
    (
        "Solar panels lose some of their power when they become very hot in summer.",
        "Why do solar panels work worse in heat?",
        "Pourquoi les panneaux solaires perdent-ils en puissance l'été ?",
        "태양광 패널은 왜 여름에 출력이 떨어지나요?",
    ),
    (
        "The president signed the law on the protection of personal data after a long debate in parliament.",
        "Who signed the data protection law?",
        "Qui a signé la loi sur la protection des données ?",
        "개인정보 보호법에는 누가 서명했나요?",
    ),
    (
        "Bees find flowers by their colour and tell the others where they are with a dance.",
        "How do bees tell others where flowers are?",
        "Comment les abeilles indiquent-elles les fleurs aux autres ?",
        "꿀벌은 꽃의 위치를 어떻게 알려 주나요?",
    ),
    (
        "The patient was allergic to penicillin, so the doctor chose another treatment.",
        "What was the patient allergic to?",
        "À quoi le patient était-il allergique ?",
        "환자는 무엇에 알레르기가 있었나요?",
    ),
    (
        "Rice is planted in flooded fields in spring and harvested in autumn.",
        "When is rice harvested?",
        "Quand récolte-t-on le riz ?",
        "쌀은 언제 수확하나요?",
    ),
    (
        "The novel tells of a poor girl who becomes a famous singer in the city.",
        "What does the girl in the novel become?",
        "Que devient la fille dans le roman ?",
        "소설 속 소녀는 무엇이 되나요?",
    ),
    (
        "Water boils at a lower temperature on high mountains because the air pressure is lower.",
        "Why does water boil sooner on mountains?",
        "Pourquoi l'eau bout-elle plus tôt en montagne ?",
        "산에서는 왜 물이 더 낮은 온도에서 끓나요?",
    ),
    (
        "The company will close two factories and dismiss eight hundred workers this year.",
        "How many workers will the company dismiss?",
        "Combien d'ouvriers l'entreprise va-t-elle licencier ?",
        "회사는 직원 몇 명을 해고하나요?",
    ),
)
"""A passage, and a question to it in three languages."""


def ragtruth(data: Path) -> tuple[dict[str, str], list[Query]]:
    """Sources, and sentences of answers in which nothing was marked."""
    sources = {}
    for row in _rows(data / "ragtruth" / "merged" / "train_sources.jsonl"):
        told = row["source_info"]
        sources[row["source_id"]] = told if isinstance(told, str) else told["passages"]
    queries = []
    for row in _rows(data / "ragtruth" / "merged" / "train_responses.jsonl"):
        if not row["hallucinated"]:
            text = row["response"]
            queries += [(text[start:end], row["source_id"]) for start, end in sentence_spans(text)]
    return sources, queries


def wice(data: Path) -> tuple[dict[str, str], list[Query]]:
    """Cited pages, and the claims that they support."""
    sources, queries = {}, []
    for row in _rows(data / "wice" / "entailment_retrieval_claim_dev.jsonl"):
        name = row["meta"]["id"]
        sources[name] = "\n".join(row["evidence"])
        if row["label"] == "supported":
            queries.append((row["claim"], name))
    return sources, queries


def scifact(data: Path) -> tuple[dict[str, str], list[Query]]:
    """Rationales, and the claims that follow from them."""
    names: dict[str, str] = {}
    queries = []
    for part in ("train", "dev"):
        with (data / "scifact_rte" / f"{part}.tsv").open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
                name = names.setdefault(row["sentence1"], f"s{len(names)}")
                if row["entailment"] == "entailment":
                    queries.append((row["sentence2"], name))
    return {name: text for text, name in names.items()}, queries


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def indexed(sources: dict[str, str], folder: Path) -> tuple[KnowledgeBase, float]:
    """The sources as a knowledge base, and how many passages were indexed in a second."""
    folder.mkdir()
    for name, text in sources.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    start = time.perf_counter()
    base = open_knowledge_base(folder, cache=None)
    return base, base.passages / (time.perf_counter() - start)


ORDERS: dict[str, Callable[[Hit], float]] = {
    "words": lambda hit: hit.words_rank or 10_000,
    "vectors": lambda hit: hit.vectors_rank or 10_000,
    "both": lambda hit: -hit.score,
}


def recall(base: KnowledgeBase, queries: Sequence[Query]) -> dict[str, str]:
    """The share of queries whose own source is among the first five, in each order."""
    found = dict.fromkeys(ORDERS, 0)
    for (_, name), hits in zip(queries, base.hits([text for text, _ in queries], top=100), strict=True):
        for order, key in ORDERS.items():
            first = sorted((hit for hit in hits if key(hit) < 10_000), key=key)[:TOP]
            found[order] += any(hit.passage.evidence_id.rpartition(".txt#")[0] == name for hit in first)
    shown = {}
    for order, count in found.items():
        interval = wilson_interval(count, len(queries))
        assert interval is not None
        shown[order] = f"{count / len(queries):.3f} ({interval.low:.3f}–{interval.high:.3f})"
    return shown


def main(data: Path) -> None:
    """Print both tables."""
    print("| set | sources | passages | queries | words | vectors | both | passages/s | queries/s |")
    print("|" + " --- |" * 9)
    with tempfile.TemporaryDirectory() as folder:
        for reader in (ragtruth, wice, scifact):
            sources, queries = reader(data)
            long = [query for query in queries if len(query[0].split()) >= FEWEST_WORDS]
            chosen = long[:: max(1, -(-len(long) // MOST_QUERIES))]
            base, speed = indexed(sources, Path(folder, reader.__name__))
            start = time.perf_counter()
            base.search([text for text, _ in chosen])
            asked = len(chosen) / (time.perf_counter() - start)
            cells = [reader.__name__, len(sources), base.passages, len(chosen), *recall(base, chosen).values()]
            print("| " + " | ".join(map(str, [*cells, f"{speed:.0f}", f"{asked:.0f}"])) + " |")
        sources = {f"t{number}": topic[0] for number, topic in enumerate(TOPICS)}
        others, _ = ragtruth(data)
        base, _ = indexed(sources | others, Path(folder, "topics"))
        print(f"\n20 passages among {base.passages} in English:\n\n| questions in | words | vectors | both |")
        print("|" + " --- |" * 4)
        for column, language in enumerate(("English", "French", "Korean"), start=1):
            asked_here = [(topic[column], f"t{number}") for number, topic in enumerate(TOPICS)]
            print(f"| {language} | " + " | ".join(recall(base, asked_here).values()) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
