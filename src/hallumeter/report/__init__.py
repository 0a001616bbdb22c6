"""The document of a run and its renderers: page, terminal, Markdown, CSV, JSON."""
