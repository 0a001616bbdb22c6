"""The instrument for clinical dialogues: answers about FHIR patients."""
