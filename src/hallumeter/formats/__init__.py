"""Files in and out: one module per format."""

from .batch import Batch, Coded, Column, Fault, Numbers, expanded
from .by_suffix import STDIN, check_readable, read_rows
from .delimited import read_delimited
from .jsonl import read_jsonl, read_jsonl_stream, write_jsonl
from .known_fields import ALIASES, KNOWN_FIELDS
from .labels import LABEL_SYNONYMS, label_of
from .mappings import batch_of
from .parquet import read_parquet
from .plain_words import plain_message
from .record_rows import claim_of, distribution_of, passages_of, read, response_of, rows_of, verdict_of
from .row_schema import RowSchema

__all__ = [
    "ALIASES",
    "KNOWN_FIELDS",
    "LABEL_SYNONYMS",
    "STDIN",
    "Batch",
    "Coded",
    "Column",
    "Fault",
    "Numbers",
    "RowSchema",
    "batch_of",
    "check_readable",
    "claim_of",
    "distribution_of",
    "expanded",
    "label_of",
    "passages_of",
    "plain_message",
    "read",
    "read_delimited",
    "read_jsonl",
    "read_jsonl_stream",
    "read_parquet",
    "read_rows",
    "response_of",
    "rows_of",
    "verdict_of",
    "write_jsonl",
]
