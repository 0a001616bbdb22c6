"""A language model whose replies are written beforehand."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence

from .protocol import Completion, ProviderFault, ProviderSpec, Reply, Request

Answer = str | Reply | ProviderFault
"""A text, a whole reply, or a fault to raise."""


class ScriptedProvider:
    """Replies with what a function says, or with one answer after the other.

    >>> from hallumeter.models.protocol import Message
    >>> provider = ScriptedProvider(lambda request: request.messages[-1].content.upper())
    >>> provider.complete(Request(messages=(Message("user", "hello"),))).completions[0].text
    'HELLO'
    """

    def __init__(self, answer: Callable[[Request], Answer] | Sequence[Answer], *, name: str = "scripted:model") -> None:
        self._answer = answer
        self._spec = ProviderSpec(name=name, model=name.partition(":")[2] or name)
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        """What it was asked, in the order in which it came."""

    @property
    def spec(self) -> ProviderSpec:
        """Which model this plays."""
        return self._spec

    def complete(self, request: Request) -> Reply:
        """The next answer; a text is given as often as samples are asked for.

        Raises:
            ProviderFault: The script says so.
            LookupError: There are more calls than answers.
        """
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        answer = self._answer(request) if callable(self._answer) else self._answer_to(number)
        if isinstance(answer, ProviderFault):
            raise copy.copy(answer)  # the caller writes on it how often it was asked
        if isinstance(answer, Reply):
            return answer
        return Reply((Completion(answer, "stop"),) * request.samples, model=self._spec.model, raw=answer)

    def _answer_to(self, number: int) -> Answer:
        assert not callable(self._answer)
        if number > len(self._answer):
            raise LookupError(f"the script of {self._spec.name} has {len(self._answer)} answers and call {number} came")
        return self._answer[number - 1]
