"""Every judge of a labelled run beside what needs no judge.

Reports import `checks`, which asks no judge; `pipeline` does, and knows how audits are made.
"""

__all__: list[str] = []
