"""The short string that lets someone else repeat a number."""

from msgspec import Struct


class Signature(Struct, frozen=True):
    """Everything that could change a number, in a fixed order.

    >>> str(Signature("mihr", "embedded:full@1", (("nei", "unsupported"),), seed=0, version="0.1.0"))
    'mihr|judge:embedded-full-1|nei:unsupported|seed:0|v:0.1.0'
    """

    metric: str
    judge: str | None
    settings: tuple[tuple[str, str], ...]
    """Names and values of the settings that the number depends on, in order."""
    seed: int | None
    """None when no random number is drawn."""
    version: str

    def __str__(self) -> str:
        parts = [self.metric]
        if self.judge is not None:
            parts.append(f"judge:{_plain(self.judge)}")
        parts += [f"{name}:{_plain(value)}" for name, value in self.settings]
        if self.seed is not None:
            parts.append(f"seed:{self.seed}")
        parts.append(f"v:{self.version}")
        return "|".join(parts)


def _plain(value: str) -> str:
    """Replace what would break the signature apart when it is read back or split."""
    return "-".join(value.replace("|", " ").replace(":", " ").replace("@", " ").split())
