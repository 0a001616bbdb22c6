"""The metrics of transcripts: how each is computed and summarised. Their words are in `metrics.<language>.toml`."""

from functools import partial

from hallumeter.records.metric import Metric
from hallumeter.text.metric_texts import with_texts

from . import metrics

_with_texts = partial(with_texts, "hallumeter.transcripts")
_metric = partial(Metric, reads="pages", direction="lower", range=(0, 1))
_rate = partial(_metric, is_poolable=True, interval="cluster_bootstrap")
_share = partial(_metric, is_poolable=True, interval="wilson")
"""A rate whose every page counts once, so that its interval is that of a proportion."""

# By alignment with the ground truth.

READING_METRICS = _with_texts(
    _rate(id="cer", compute=metrics.character_error_rate, range=(0, None)),
    _rate(id="cer_mean", compute=metrics.mean_character_error_rate, range=(0, None)),
    _metric(id="cer_gini", compute=metrics.error_concentration),
    _rate(id="wer", compute=metrics.word_error_rate, range=(0, None)),
    _rate(id="mer", compute=metrics.match_error_rate),
    _metric(
        id="wil",
        compute=metrics.word_information_lost,
        resample=metrics.resampled_word_information_lost,
        interval="pattern_bootstrap",
    ),
    _rate(id="true_insertion_rate", compute=metrics.true_insertion_rate),
    _rate(id="invented_rate", compute=metrics.invented_rate),
    _rate(id="loop_rate", compute=metrics.loop_rate),
    _rate(id="omission_rate", compute=metrics.omission_rate),
    _rate(id="multiset_insertion_rate", compute=metrics.multiset_insertion_rate),
    _rate(id="number_insertion_rate", compute=metrics.number_insertion_rate),
    _rate(id="name_insertion_rate", compute=metrics.name_insertion_rate),
    _share(id="hallucinating_page_rate", compute=metrics.hallucinating_page_rate),
    _share(id="empty_output_rate", compute=metrics.empty_output_rate),
    _share(id="refusal_page_rate", compute=metrics.refusal_page_rate),
    _share(id="apology_page_rate", compute=metrics.apology_page_rate, direction="none"),
    _share(id="wrapper_page_rate", compute=metrics.wrapper_page_rate),
    _share(id="note_page_rate", compute=metrics.note_page_rate, direction="none"),
    _share(id="description_page_rate", compute=metrics.description_page_rate),
)

# Picarones' metrics: what the vocabulary of a page says of a transcription.

ANCHORING_METRICS = _with_texts(
    _share(id="picarones_page_rate", compute=metrics.picarones_page_rate),
    _rate(id="net_insertion_rate", compute=metrics.net_insertion_rate),
    _rate(id="net_insertion_mean", compute=metrics.mean_net_insertion_rate),
    _rate(id="anchor_rate", compute=metrics.anchor_rate, direction="higher"),
    _rate(id="anchor_mean", compute=metrics.mean_anchor_score, direction="higher"),
    _metric(id="anchor_min", compute=metrics.smallest_anchor_score, direction="higher"),
    _rate(id="length_ratio", compute=metrics.length_ratio, direction="none", range=(0, None)),
    _rate(id="length_ratio_mean", compute=metrics.mean_length_ratio, direction="none", range=(0, 9.99)),
)

METRICS = (*READING_METRICS, *ANCHORING_METRICS)
METRICS_BY_ID = {metric.id: metric for metric in METRICS}
