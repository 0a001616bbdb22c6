"""FHIR R4: bundles, search results and bulk exports in, one record per patient out."""

from .dates import day_of, is_whole_date, moment_of
from .entries import Trouble, fhir_files
from .joining import PatientRecord
from .reading import read_patients
from .resources import Coding, Concept, Condition, Measured, MedicationUse, Observation, Patient, Procedure, Quantity
from .validation import validator

__all__ = [
    "Coding",
    "Concept",
    "Condition",
    "Measured",
    "MedicationUse",
    "Observation",
    "Patient",
    "PatientRecord",
    "Procedure",
    "Quantity",
    "Trouble",
    "day_of",
    "fhir_files",
    "is_whole_date",
    "moment_of",
    "read_patients",
    "validator",
]
