"""Where events stand, kept on disk."""

from hallumeter.dialogue.measure.inputs import EventTable, StoredEvent


def place(mode: str, turn: int, *, stamp: str = "", line: int = 1, question: str = "q") -> StoredEvent:
    return StoredEvent(mode, turn, question, stamp, 0, line, 10 * line, 9)


def test_patients_come_back_in_the_order_in_which_they_were_first_seen() -> None:
    with EventTable() as events_table:
        for patient in ("b", "a", "b", "c"):
            events_table.put(patient, place("llm", 1))
        assert [name for name, _ in events_table.patients()] == ["b", "a", "c"]
        assert (events_table.events, events_table.count_patients()) == (4, 3)


def test_events_of_a_patient_come_by_mode_and_turn_and_the_latest_last() -> None:
    with EventTable() as events_table:
        events_table.put("p", place("llm", 2, line=1))
        events_table.put("p", place("agent", 1, line=2))
        events_table.put("p", place("llm", 1, stamp="2026-01-02", line=3))
        events_table.put("p", place("llm", 1, stamp="2026-01-01", line=4))
        ((_, events),) = events_table.patients()
        assert [(event.mode, event.turn_id, event.line) for event in events] == [
            ("llm", 1, 4),
            ("llm", 1, 3),
            ("llm", 2, 1),
            ("agent", 1, 2),
        ]
        assert events_table.modes == ("llm", "agent")


def test_the_first_of_two_scripts_of_a_patient_is_kept() -> None:
    with EventTable() as events_table:
        assert events_table.put_scripts([("p", b"one"), ("p", b"two"), ("q", b"three")]) == 1
        assert (events_table.script("p"), events_table.script("q"), events_table.script("r")) == (
            b"one",
            b"three",
            None,
        )


def test_names_with_broken_characters_are_kept() -> None:
    with EventTable() as events_table:
        events_table.put("a\ud800", place("llm", 1))
        assert [len(events) for _, events in events_table.patients()] == [1]


def test_more_events_than_are_written_at_once_come_back() -> None:
    with EventTable() as events_table:
        for number in range(5_000):
            events_table.put(f"p{number % 7}", place("llm", number % 5 + 1, line=number))
        assert sum(len(events) for _, events in events_table.patients()) == 5_000
