"""LangChain: a string evaluator, and a callback that checks what a chain answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack
from uuid import UUID

from .checked_answer import AnswerParts, CheckedAnswer, Checker, CheckerOptions, PartsReader, answer_text, missing

try:
    from langchain_classic.evaluation import StringEvaluator
    from langchain_core.callbacks import BaseCallbackHandler
except ImportError as error:
    raise missing("langchain", "LangChain") from error

__all__ = ["CheckAnswers", "SupportedClaimsEvaluator"]


class SupportedClaimsEvaluator(StringEvaluator):
    """The share of a prediction's claims that the reference supports, 1 is best.

    The reference is the evidence: a text, texts or documents. What cannot be measured has None for a score; `value` is
    ``unmeasured`` and `reasoning` says why.
    """

    def __init__(self, **options: Unpack[CheckerOptions]) -> None:
        self._checker = Checker(options)

    @property
    def requires_input(self) -> bool:
        """The question may be given, and need not."""
        return False

    @property
    def requires_reference(self) -> bool:
        """The evidence must be given, be it empty."""
        return True

    def _check_evaluation_args(self, reference: Any = None, input_: Any = None) -> None:
        del input_  # it would warn of an input that is not required
        super()._check_evaluation_args(reference, None)

    def _evaluate_strings(
        self,
        *,
        prediction: Any,
        reference: Any = None,
        input: Any = None,
        **_named: Any,
    ) -> dict[str, Any]:
        answer = self._checker(AnswerParts(answer_text(prediction), reference or [], input))
        return {
            "score": answer.supported_rate,
            "value": answer.label,
            "reasoning": answer.explanation,
            "metadata": answer.metadata(),
        }


class CheckAnswers(BaseCallbackHandler):
    """Checks the answer of every chain that it is given to: ``chain.invoke(question, config={"callbacks": [check]})``.

    Evidence is what the chain returns beside its answer (``context``, ``source_documents``, ...), or else what its
    retrievers found. Checked answers are in `answers`, in their order; `on_checked` is called with each.
    """

    def __init__(
        self, on_checked: Callable[[CheckedAnswer], object] | None = None, **options: Unpack[CheckerOptions]
    ) -> None:
        self.answers: list[CheckedAnswer] = []
        self._checker, self._on_checked = Checker(options), on_checked
        self._roots: dict[UUID, UUID] = {}
        self._inputs: dict[UUID, Any] = {}
        self._found: dict[UUID, list[Any]] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_named: Any
    ) -> None:
        """Remember to which chain a step belongs, and what was asked of it."""
        del serialized
        self._roots[run_id] = self._roots.get(parent_run_id, parent_run_id) if parent_run_id else run_id
        if parent_run_id is None:
            self._inputs[run_id] = inputs

    def on_retriever_end(self, documents: Any, *, parent_run_id: UUID | None = None, **_named: Any) -> None:
        """Keep what was found for the chain; a retriever that is asked alone answers nothing."""
        if parent_run_id is not None:
            self._found.setdefault(self._roots.get(parent_run_id, parent_run_id), []).extend(documents)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_named: Any) -> None:
        """Check the answer when the whole chain is done."""
        if parent_run_id is not None:
            return
        values = {
            "outputs": getattr(outputs, "content", outputs),
            "inputs": self._inputs.get(run_id),
            "retrieved": {"evidence": self._found.get(run_id)},
        }
        self._forget(run_id)
        parts = PartsReader().parts(values, answer="outputs", asked=("inputs", "retrieved"))
        answer = self._checker(parts)
        self.answers.append(answer)
        if self._on_checked is not None:
            self._on_checked(answer)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **_named: Any
    ) -> None:
        """Forget a chain that broke: it has no answer."""
        del error
        if parent_run_id is None:
            self._forget(run_id)

    def _forget(self, root: UUID) -> None:
        self._inputs.pop(root, None)
        self._found.pop(root, None)
        self._roots = {run: of for run, of in self._roots.items() if of != root}
