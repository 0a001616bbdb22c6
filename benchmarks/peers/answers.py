"""Two hundred answers about towers, of which forty cannot be measured as if nothing had happened."""

from __future__ import annotations

COUNT = 200
TROUBLES = ("empty", "greeting", "unparsable", "cut_short", "server_error")
"""Nothing to judge in the answer, or a judge that writes no JSON, too few verdicts, or nothing at all."""
EACH = 8


def kind_of(number: int) -> str:
    """What is the matter with an answer: the last forty have troubles, every second of the others is wrong."""
    place = number - (COUNT - len(TROUBLES) * EACH)
    if place >= 0:
        return TROUBLES[place // EACH]
    return "wrong" if number % 2 else "right"


def rows() -> list[dict[str, object]]:
    """The answers, each with a name by which the judge knows it."""
    found: list[dict[str, object]] = []
    for number in range(COUNT):
        name, height = f"Tower {number:03}", 100 + number
        said = height + 7 if kind_of(number) == "wrong" else height
        texts = {"empty": "", "greeting": "Hello! How can I help you today?"}
        answer = texts.get(kind_of(number), f"{name} is {said} m high. {name} stands in Paris.")
        evidence = f"{name} is {height} m high. {name} stands in Paris. It was opened in 1900."
        question = f"How high is {name}, and where is it?"
        found.append({"id": f"{number:03}", "question": question, "response": answer, "evidence": [evidence]})
    return found
