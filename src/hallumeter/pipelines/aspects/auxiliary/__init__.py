"""A sentiment classifier outside the pipeline: asked after everything else, for metrics alone."""

from .by_name import CHECKPOINT_FORMS, classifier_named
from .protocol import Classified, Classifier
from .signals import auxiliary_signal, with_signal

__all__ = ["CHECKPOINT_FORMS", "Classified", "Classifier", "auxiliary_signal", "classifier_named", "with_signal"]
