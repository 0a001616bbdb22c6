"""Where events stand, kept on disk."""

from hallumeter.store import EventShelf, ShelvedEvent


def place(mode: str, turn: int, *, stamp: str = "", line: int = 1, question: str = "q") -> ShelvedEvent:
    return ShelvedEvent(mode, turn, question, stamp, 0, line, 10 * line, 9)


def test_patients_come_back_in_the_order_in_which_they_were_first_seen() -> None:
    with EventShelf() as shelf:
        for patient in ("b", "a", "b", "c"):
            shelf.put(patient, place("llm", 1))
        assert [name for name, _ in shelf.patients()] == ["b", "a", "c"]
        assert (shelf.events, shelf.count_patients()) == (4, 3)


def test_events_of_a_patient_come_by_mode_and_turn_and_the_latest_last() -> None:
    with EventShelf() as shelf:
        shelf.put("p", place("llm", 2, line=1))
        shelf.put("p", place("agent", 1, line=2))
        shelf.put("p", place("llm", 1, stamp="2026-01-02", line=3))
        shelf.put("p", place("llm", 1, stamp="2026-01-01", line=4))
        ((_, events),) = shelf.patients()
        assert [(event.mode, event.turn_id, event.line) for event in events] == [
            ("llm", 1, 4),
            ("llm", 1, 3),
            ("llm", 2, 1),
            ("agent", 1, 2),
        ]
        assert shelf.modes == ("llm", "agent")


def test_the_first_of_two_scripts_of_a_patient_is_kept() -> None:
    with EventShelf() as shelf:
        assert shelf.put_scripts([("p", b"one"), ("p", b"two"), ("q", b"three")]) == 1
        assert (shelf.script("p"), shelf.script("q"), shelf.script("r")) == (b"one", b"three", None)


def test_names_with_broken_characters_are_kept() -> None:
    with EventShelf() as shelf:
        shelf.put("a\ud800", place("llm", 1))
        assert [len(events) for _, events in shelf.patients()] == [1]


def test_more_events_than_are_written_at_once_come_back() -> None:
    with EventShelf() as shelf:
        for number in range(5_000):
            shelf.put(f"p{number % 7}", place("llm", number % 5 + 1, line=number))
        assert sum(len(events) for _, events in shelf.patients()) == 5_000
