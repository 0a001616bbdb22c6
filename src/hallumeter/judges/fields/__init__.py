"""Checks of claims against structured records: opening hours, and fields that hold yes, no, nothing or a rating."""

from .opening_hours import check_opening_hours
from .record_fields import check_record_fields

__all__ = ["check_opening_hours", "check_record_fields"]
