"""The instrument for OCR and vision models: transcripts against ground truth or a witness."""
