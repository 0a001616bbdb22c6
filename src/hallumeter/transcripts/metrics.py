"""How much an engine invented, left out and misread, over many pages.

Every metric reads the counts of each page and returns one rate per page, so that the same two columns can be pooled,
grouped, resampled and written down. A *rate* pools the pages: long pages weigh more. A *mean* gives every page the
same weight, as Picarones does. A page on which nothing can be counted is in neither.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hallumeter.records.rate import Rates

from .anchoring import LENGTH_RATIO_CAP
from .records import PageColumns

# How unevenly a total is spread: whether a few pages make most of the errors.


def gini(values: ArrayLike) -> float | None:
    """Gini coefficient: 0 when all values are equal, (n - 1) / n when one of n holds everything.

    On ascending values x_1 ... x_n: 2 sum(i x_i) / (n sum(x)) - (n + 1) / n, as in Picarones. Undefined without values
    and when they add up to 0.

    >>> gini([0, 0, 0, 1])
    0.75
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 0) & (given < np.inf)):
        raise ValueError(f"shares of a total need one list of finite numbers, 0 or more; found {given}")
    ascending = np.sort(given)  # first of all: the order given must not show even in the last digit of the sum
    count, total = len(ascending), float(ascending.sum())
    if total == 0:
        return None
    weighted = float(np.arange(1, count + 1) @ ascending)
    return 2 * weighted / (count * total) - (count + 1) / count


def character_error_rate(pages: PageColumns) -> Rates:
    """Wrong, missing and added characters over characters of the reference (CER); above 1 for a runaway response."""
    return _rates(pages, "character_errors", "strict_reference_characters")


def mean_character_error_rate(pages: PageColumns) -> Rates:
    """Mean over pages of the character error rate; pages without a reference are left out."""
    return _mean(character_error_rate(pages))


def word_error_rate(pages: PageColumns) -> Rates:
    """Wrong, missing and added words over words of the reference (WER); above 1 for a runaway response."""
    return _rates(pages, "word_errors", "strict_reference_words")


def match_error_rate(pages: PageColumns) -> Rates:
    """Wrong, missing and added words over all steps of the alignment (MER): at most 1."""
    return _rates(pages, "word_errors", "word_edits")


def word_information_lost(pages: PageColumns) -> float | None:
    """One minus the product of word recall and word precision, all pages pooled (WIL).

    1 when only one side has words; undefined when neither has.
    """
    value = float(resampled_word_information_lost(pages, np.ones((1, len(pages))))[0])
    return None if np.isnan(value) else value


def resampled_word_information_lost(pages: PageColumns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many resamples at once, each a row that says how often a page was drawn; NaN where undefined."""
    names = ("word_hits", "strict_reference_words", "strict_response_words")
    hits, reference, response = (weights @ pages.column(name) for name in names)
    kept = hits * hits / np.maximum(reference * response, 1)
    return np.where(reference + response > 0, 1 - kept, np.nan)


def true_insertion_rate(pages: PageColumns) -> Rates:
    """Words of the response that are aligned with nothing on the page, over words of the response."""
    return _rates(pages, "inserted_words", "read_response_words")


def invented_rate(pages: PageColumns) -> Rates:
    """Words of the response in invented blocks and in loops, over words of the response."""
    return Rates(pages.column("block_words") + pages.column("loop_words"), pages.column("read_response_words"))


def loop_rate(pages: PageColumns) -> Rates:
    """Words of the response in repetition loops, over words of the response."""
    return _rates(pages, "loop_words", "read_response_words")


def omission_rate(pages: PageColumns) -> Rates:
    """Words of the page that the response has nothing for, over words of the page."""
    return _rates(pages, "omitted_words", "read_reference_words")


def multiset_insertion_rate(pages: PageColumns) -> Rates:
    """Words that the response has more often than the page, over words of the response; order plays no part."""
    return _rates(pages, "multiset_inserted", "read_response_words")


def number_insertion_rate(pages: PageColumns) -> Rates:
    """Numbers of the response that the page does not have so often, over numbers of the response."""
    return _rates(pages, "invented_numbers", "numbers")


def name_insertion_rate(pages: PageColumns) -> Rates:
    """Capitalised words that the page does not have, not even misread, over capitalised words of the response."""
    return _rates(pages, "invented_names", "names")


def hallucinating_page_rate(pages: PageColumns) -> Rates:
    """Pages with the product's badge over pages that could be told; empty outputs and refusals are left out."""
    return _rates(pages, "is_hallucinating", "is_decided")


def empty_output_rate(pages: PageColumns) -> Rates:
    """Pages with text for which the engine wrote nothing, over pages with text."""
    has_text = pages.column("reference_words") > 0
    # A page of signs alone has no words under a spelling without punctuation.
    return Rates(np.where(has_text, pages.column("is_empty_output"), 0.0), has_text.astype(np.float64))


def refusal_page_rate(pages: PageColumns) -> Rates:
    """Pages on which the engine said that it cannot read them, wholly or in part, over pages with an output."""
    return _among_outputs(pages, "has_refusal")


def apology_page_rate(pages: PageColumns) -> Rates:
    """Pages on which the engine said sorry, over pages with an output."""
    return _among_outputs(pages, "has_apology")


def wrapper_page_rate(pages: PageColumns) -> Rates:
    """Pages whose transcription is introduced, closed or fenced, over pages with an output."""
    return _among_outputs(pages, "has_wrapper")


def note_page_rate(pages: PageColumns) -> Rates:
    """Pages with an editorial note, over pages with an output."""
    return _among_outputs(pages, "has_note")


def description_page_rate(pages: PageColumns) -> Rates:
    """Pages that the engine described, over pages with an output."""
    return _among_outputs(pages, "has_description")


def picarones_page_rate(pages: PageColumns) -> Rates:
    """Pages with Picarones' badge over all pages."""
    return Rates(pages.column("picarones_badge"), np.ones(len(pages)))


def net_insertion_rate(pages: PageColumns) -> Rates:
    """Words of the response that the page has nowhere, over words of the response."""
    return _rates(pages, "unknown_words", "response_words")


def mean_net_insertion_rate(pages: PageColumns) -> Rates:
    """Mean over all pages of the net insertion rate, 0 for an empty response, as Picarones averages."""
    rates = net_insertion_rate(pages)
    return Rates(rates.counts / np.maximum(rates.totals, 1), np.ones(len(pages)))


def anchor_rate(pages: PageColumns) -> Rates:
    """N-grams of the response that the page has, over n-grams of the response."""
    return _rates(pages, "anchored_ngrams", "ngrams")


def mean_anchor_score(pages: PageColumns) -> Rates:
    """Mean over all pages of the anchor score, as Picarones averages."""
    return Rates(pages.column("anchor_score"), np.ones(len(pages)))


def smallest_anchor_score(pages: PageColumns) -> float | None:
    """The anchor score of the worst page."""
    return float(pages.column("anchor_score").min()) if len(pages) else None


def length_ratio(pages: PageColumns) -> Rates:
    """Characters of the responses over characters of the references."""
    return _rates(pages, "response_characters", "reference_characters")


def mean_length_ratio(pages: PageColumns) -> Rates:
    """Mean over all pages of the length ratio, capped at 9.99, as Picarones averages."""
    return Rates(np.minimum(pages.column("length_ratio"), LENGTH_RATIO_CAP), np.ones(len(pages)))


def error_concentration(pages: PageColumns) -> float | None:
    """Gini coefficient of the pages' character error rates: 0 when all are alike, near 1 when few hold all errors."""
    rates = mean_character_error_rate(pages)
    return gini(rates.counts[rates.totals > 0])


def _among_outputs(pages: PageColumns, name: str) -> Rates:
    has_output = pages.column("response_characters") > 0
    return Rates(np.where(has_output, pages.column(name), 0.0), has_output.astype(np.float64))


def _rates(pages: PageColumns, count: str, total: str) -> Rates:
    """Pages without anything in the total are left out: text on an empty page is no error rate, but an insertion."""
    totals = pages.column(total)
    return Rates(np.where(totals > 0, pages.column(count), 0.0), totals)


def _mean(rates: Rates) -> Rates:
    """Every page with something to count weighs the same."""
    is_counted = rates.totals > 0
    return Rates(np.where(is_counted, rates.counts / np.maximum(rates.totals, 1), 0.0), is_counted.astype(np.float64))
