"""What a model says when it is asked again: the meanings of its samples, and the probabilities of its own tokens."""

from __future__ import annotations

from msgspec import Struct, structs

from hallumeter.errors import RecordError
from hallumeter.metrics.meanings import clusters_of_equivalent
from hallumeter.metrics.token_logprobs import TokenColumns, check_logprobs
from hallumeter.records import Failure, Response

from .equivalence import STEP, CannotTellError, Equivalence


class SampleReading(Struct, frozen=True):
    """What was found about the samples and the token log-probabilities of one record."""

    record_id: str
    samples: int = 0
    meanings: tuple[int, ...] = ()
    """Of the response, then of each sample; empty without samples, or when they could not be compared."""
    tokens: int = 0
    surprisal: float = 0.0
    """Sum over the tokens, in nats."""
    least_probability: float | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def are_meanings_missing(self) -> bool:
        """Whether there are samples that could not be compared."""
        return self.samples > 0 and not self.meanings

    @property
    def are_tokens_refused(self) -> bool:
        """Whether there were log-probabilities that cannot be any."""
        return any(failure.code == "bad_logprobs" for failure in self.failures)


class SampleReader(Struct, frozen=True):
    """Reads records; without an equivalence, their token log-probabilities only."""

    equivalence: Equivalence | None

    def has_work(self, response: Response) -> bool:
        """Whether there is anything to read in a record."""
        return bool(response.token_logprobs) or (self.equivalence is not None and bool(response.samples))

    def read(self, response: Response) -> SampleReading:
        """Everything that its samples and token log-probabilities tell; what broke stands among the failures."""
        reading = _with_tokens(SampleReading(response.record_id), response)
        if self.equivalence is None or not response.samples:
            return reading
        reading = structs.replace(reading, samples=len(response.samples))
        if response.response is None:
            message = "the record has samples but no response to compare them with"
            failure = Failure(response.record_id, None, STEP, None, "no_response", message)
            return structs.replace(reading, failures=(*reading.failures, failure))
        answers = (response.response, *response.samples)
        try:
            is_same = self.equivalence.comparison(response, answers)
            return structs.replace(reading, meanings=tuple(clusters_of_equivalent(len(answers), is_same)))
        except CannotTellError as error:
            return structs.replace(reading, failures=(*reading.failures, error.failure))


def _with_tokens(reading: SampleReading, response: Response) -> SampleReading:
    if not response.token_logprobs:
        return reading
    try:
        check_logprobs(response.token_logprobs)
    except RecordError as error:
        failure = Failure(response.record_id, None, STEP, None, "bad_logprobs", str(error))
        return structs.replace(reading, failures=(failure,))
    columns = TokenColumns.of([response.token_logprobs])
    return structs.replace(
        reading,
        tokens=int(columns.tokens[0]),
        surprisal=float(columns.surprisal[0]),
        least_probability=float(columns.least_probability[0]),
    )
