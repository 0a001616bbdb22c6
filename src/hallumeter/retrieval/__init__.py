"""The passages that a claim is checked against: a knowledge base, looked up by words and by meaning."""

from .documents import Skipped
from .searching import INDEXES, Hit, KnowledgeBase, open_knowledge_base
from .vectors import encode, encoder_name

__all__ = ["INDEXES", "Hit", "KnowledgeBase", "Skipped", "encode", "encoder_name", "open_knowledge_base"]
