"""Aspects in Korean sentences."""

from .reader import KoreanReader

__all__ = ["KoreanReader"]
