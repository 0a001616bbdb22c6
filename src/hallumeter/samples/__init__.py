"""Real model responses with human verdicts, small enough to ship; ``README.md`` says what, whence and how made.

Read them with ``importlib.resources.files("hallumeter.samples")``.
"""

__all__: list[str] = []
