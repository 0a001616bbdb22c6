"""The world's models behind small interfaces: readers of page images, and language models."""

__all__: list[str] = []
