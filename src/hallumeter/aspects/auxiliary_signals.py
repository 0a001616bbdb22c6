"""What an auxiliary classifier says beside the pipeline: a record, and never an influence."""

from __future__ import annotations

from msgspec.structs import replace

from .auxiliary import Classifier, signal_label
from .records.outputs import AspectExtraction, AspectSentiments, AuxiliarySignal, PipelineOutput
from .stages.draft import Draft
from .stages.opinions import sentence_opinion

SIGNAL = "hf"
"""Under which name the signal stands in outputs."""


def auxiliary_signal(
    text: str, classifier: Classifier, *, stage1_label: str | None, stage2_label: str | None
) -> AuxiliarySignal:
    """Ask the classifier about a text, and compare with the labels of both stages; mixed counts as neutral.

    >>> from hallumeter.aspects.auxiliary import Classified
    >>> class Grumpy:
    ...     model_id = "grumpy"
    ...     def classify(self, text):
    ...         return Classified("neg", 0.9)
    >>> auxiliary_signal("Fine.", Grumpy(), stage1_label="positive", stage2_label=None).disagrees_with
    {'stage1_final': True, 'stage2_final': None}
    """
    said = classifier.classify(text)
    labels = {"stage1_final": stage1_label, "stage2_final": stage2_label}
    disagrees: dict[str, bool | None] = {}
    for stage, label in labels.items():
        short = None if label is None else signal_label(label)
        disagrees[stage] = None if short is None else short != said.label
    return AuxiliarySignal(said.label, said.confidence, classifier.model_id, disagrees)


def with_signal(output: PipelineOutput, classifier: Classifier) -> PipelineOutput:
    """An output with the signal beside it; nothing else of it changes."""
    stage1_label = _label(output.stage1.ate, output.stage1.atsa)
    stage2_label = _label(output.patched_stage2_ate, output.patched_stage2_atsa)
    signal = auxiliary_signal(output.input_text, classifier, stage1_label=stage1_label, stage2_label=stage2_label)
    return replace(output, aux_signals={**output.aux_signals, SIGNAL: signal})


def _label(aspects: AspectExtraction | None, sentiments: AspectSentiments | None) -> str | None:
    """The label of a stage; None when nobody says anything in it."""
    if sentiments is None:
        return None
    opinion = sentence_opinion(Draft(() if aspects is None else aspects.aspects, sentiments.aspect_sentiments))
    return opinion.label if opinion.confidence > 0 else None
