"""What an attempt at a shard comes to, as bytes that any engine carries back to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol

import msgspec
from msgspec import Struct

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.run.shards import Receipt, Shard

LOOK_AGAIN_SECONDS = 0.5
"""A wait without end would not see Ctrl-C."""
MOST_ATTEMPTS = 4
"""How often a shard is begun whose worker dies, before the run ends."""


class Outcome(Struct, frozen=True):
    """A receipt, or an error that a user can mend, which would only be the same again."""

    receipt: Receipt | None
    error: str = ""
    is_setting: bool = False


_DECODER = msgspec.msgpack.Decoder(Outcome)


def attempted(task: Callable[[Shard], Receipt], shard: Shard) -> bytes:
    """Work on a shard, in a worker."""
    try:
        outcome = Outcome(task(shard))
    except HallumeterError as error:
        outcome = Outcome(None, f"{shard}: {error}", isinstance(error, SettingsError))
    except KeyboardInterrupt:  # an engine that stops a worker would take it for an order to stop itself
        raise RuntimeError(f"{shard}: stopped") from None
    return msgspec.msgpack.encode(outcome)


def receipt_of(body: bytes) -> Receipt:
    """The receipt of an attempt, in the driver.

    Raises:
        InputError: What the worker could not use.
        SettingsError: Which setting it could not use.
    """
    outcome = _DECODER.decode(body)
    if outcome.receipt is not None:
        return outcome.receipt
    raise SettingsError(outcome.error) if outcome.is_setting else InputError(outcome.error)


class UnderWay(Protocol):
    """Shards that an engine has begun and that have not come to their end."""

    def __len__(self) -> int: ...

    def begin(self, shard: Shard) -> None:
        """Give a shard to the engine."""
        ...

    def receipts(self) -> Iterator[Receipt]:
        """What has come to its end, after a short while at the latest."""
        ...


def worked_off(shards: Iterable[Shard], under_way: UnderWay, *, slots: int) -> Iterator[Receipt]:
    """The receipts of all shards, with so many of them under way at the same time."""
    left = iter(shards)
    while True:
        for shard in islice(left, slots - len(under_way)):
            under_way.begin(shard)
        if not under_way:
            return
        yield from under_way.receipts()


def given_up(shard: Shard, engine: str, reason: object) -> InputError:
    """What is said when the workers of a shard have died again and again."""
    line = str(reason).strip().split("\n")[0][:300]
    return InputError(
        f"{shard}: {engine} could not finish it in {MOST_ATTEMPTS} attempts ({line}); "
        "all other finished shards are kept: go on with --resume, perhaps with more shards"
    )
