"""What a clinical text mentions of drugs, conditions, labs, vitals, age and sex, and how each mention stands in it."""

from .clinical_text import ClinicalText, Hint
from .reader import ClinicalReader
from .tables import Measurement
from .units import Quantity

__all__ = ["ClinicalReader", "ClinicalText", "Hint", "Measurement", "Quantity"]
