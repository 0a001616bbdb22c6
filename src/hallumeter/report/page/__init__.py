"""A document as a page: chapters, templates, and the data of the scripts."""

__all__: list[str] = []
