"""Picarones' metrics: what the vocabulary of a page says of a transcription."""

from hallumeter.metrics import transcripts

from .metric import Metric

_PICARONES = "Picarones"

ANCHORING_METRICS = (
    Metric(
        id="picarones_page_rate",
        alias="Picarones badge",
        name="share of pages with Picarones' badge",
        reads="pages",
        compute=transcripts.picarones_page_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="there is no page",
        is_poolable=True,
        interval="wilson",
        question="On how many pages is the anchor score low, or the response much longer than the page?",
        formula="pages with anchor score < 0.5 or length ratio > 1.2 / all pages",
        example=(
            'Three pages "le roi de france": one read rightly, one read twice over (ratio 2.06), one left empty '
            "(anchor score 0): 2 / 3 = 0.667."
        ),
        caution=(
            "Punctuation and misread letters lower the anchor score as invention does; an empty output is"
            " badged as hallucinating. hallucinating_page_rate avoids both."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="net_insertion_rate",
        alias="net insertion",
        name="share of words that are nowhere on the page",
        reads="pages",
        compute=transcripts.net_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the words that the engine wrote, how many does the page have nowhere?",
        formula=("words of the response outside the reference's vocabulary / words of the response, all pages pooled"),
        example='Page "le roi de france", response "le roi, de france.": 2 / 4 = 0.5.',
        caution=(
            "It looks at the vocabulary only: a page transcribed three times over has 0, and so has a "
            "shuffled one. Misread words and attached punctuation count as inserted. See "
            "true_insertion_rate."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="net_insertion_mean",
        alias="net insertion mean",
        name="mean of the pages' net insertion rates",
        reads="pages",
        compute=transcripts.mean_net_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="there is no page",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="What is the net insertion rate of an average page?",
        formula="mean over pages of unknown words / words of the response, 0 for an empty response",
        example="Pages with rates 0.5 and 0: 0.25.",
        caution="An empty output counts as 0, the best value.",
        source=_PICARONES,
    ),
    Metric(
        id="anchor_rate",
        alias="anchored n-grams",
        name="share of word trigrams that the page has",
        reads="pages",
        compute=transcripts.anchor_rate,
        direction="higher",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the runs of three words that the engine wrote, how many does the page have?",
        formula=(
            "trigrams of the response in the reference's set of trigrams / trigrams of the response, all pages pooled"
        ),
        example='Page "a b c d e f", response "a x b c y d e f": 1 / 6 = 0.167.',
        caution=(
            "One misread word breaks three trigrams, so a bad but honest engine has a low rate; a loop of"
            " true text has a high one."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="anchor_mean",
        alias="anchor score",
        name="mean of the pages' anchor scores",
        reads="pages",
        compute=transcripts.mean_anchor_score,
        direction="higher",
        range=(0, 1),
        undefined_when="there is no page",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How well is an average page anchored in the ground truth?",
        formula=(
            "mean over pages of the share of trigrams that the reference has; a response shorter than "
            "three words counts as one n-gram"
        ),
        example="Pages with scores 1 and 0.5: 0.75.",
        caution="A response of fewer than three words has 0 unless it is the whole, equally short, page.",
        source=_PICARONES,
    ),
    Metric(
        id="anchor_min",
        alias="anchor min",
        name="anchor score of the worst page",
        reads="pages",
        compute=transcripts.smallest_anchor_score,
        direction="higher",
        range=(0, 1),
        undefined_when="there is no page",
        question="How badly anchored is the worst page?",
        formula="smallest anchor score of all pages",
        example="Pages with scores 1, 0.5 and 0.2: 0.2.",
        caution="One page decides it, often an empty or a very short one. It has no interval.",
        source=_PICARONES,
    ),
    Metric(
        id="length_ratio",
        alias="length ratio",
        name="length of the responses over length of the pages",
        reads="pages",
        compute=transcripts.length_ratio,
        direction="none",
        range=(0, None),
        undefined_when="no page has a reference",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How long is what the engine wrote, compared with what is on the pages?",
        formula=(
            "characters of the responses / characters of the references, white space around the texts "
            "left out, all pages pooled"
        ),
        example="Page of 16 characters, response of 18: 18 / 16 = 1.125.",
        caution=(
            "Below 0.8 something was probably left out, above 1.2 something added; around 1 both may have"
            " happened. Abbreviations written out lengthen, spaces in tables too."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="length_ratio_mean",
        alias="length ratio mean",
        name="mean of the pages' length ratios, capped",
        reads="pages",
        compute=transcripts.mean_length_ratio,
        direction="none",
        range=(0, 9.99),
        undefined_when="there is no page",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="What is the length ratio of an average page?",
        formula="mean over pages of min(9.99, characters of the response / characters of the reference)",
        example="Pages with ratios 1 and 30: (1 + 9.99) / 2 = 5.495.",
        caution="The cap hides how long a runaway response is.",
        source=_PICARONES,
    ),
)
