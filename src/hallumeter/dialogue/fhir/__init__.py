"""FHIR R4 files, read into patients."""
