"""How unsure a judge is, and whether more evidence or another judge could help.

For samples p_1 … p_M over K outcomes with mean p̄, three readings of "epistemic" and "aleatoric":

    method        aleatoric                          epistemic                     total
    information   mean entropy of the p_m            mutual information            entropy of p̄ (nats)
    variance      mean of Σ_k p_mk (1 - p_mk)        Σ_k variance over m of p_mk   Σ_k p̄_k (1 - p̄_k)
    literal       mean variance of the K numbers     mean variance over m          their sum

`literal` is judge-auditor's formula read word by word. It gives a certain prediction the highest aleatoric part and can
never exceed 0.5, so `information` is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records.claim import check_distribution
from hallumeter.records.columns import UncertaintySums
from hallumeter.records.rate import Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray


UncertaintyMethod = Literal["information", "variance", "literal"]


class Uncertainty(Struct, frozen=True):
    """The parts of the uncertainty of one claim."""

    shannon_entropy: float
    """Of the given distribution, in nats."""
    epistemic: float
    """What more knowledge could remove: the samples disagree with each other."""
    aleatoric: float
    """What no knowledge of this judge can remove: every sample is unsure by itself."""
    total: float
    method: UncertaintyMethod


def shannon_entropy(probabilities: Sequence[float]) -> float:
    """Entropy in nats, -Σ p log p with 0 log 0 = 0; the distribution is checked.

    >>> round(shannon_entropy([0.7, 0.2, 0.1]), 6)
    0.801819
    """
    check_distribution(tuple(probabilities), "probabilities")
    return float(entropy_of(np.asarray(probabilities, dtype=np.float64)))


def uncertainty(
    probabilities: Sequence[float],
    inference_samples: Sequence[Sequence[float]] = (),
    *,
    method: UncertaintyMethod = "information",
) -> Uncertainty:
    """Split the uncertainty of one claim into its epistemic and aleatoric parts.

    With fewer than two samples nothing is known about disagreement: epistemic is 0 and the aleatoric part is that of
    the given distribution.

    >>> parts = uncertainty([0.5, 0.5], [[1, 0], [0, 1]])
    >>> round(parts.epistemic, 6), round(parts.aleatoric, 6)
    (0.693147, 0.0)
    """
    entropy = shannon_entropy(probabilities)
    for sample in inference_samples:
        check_distribution(tuple(sample), "inference_samples")
    lengths = sorted({len(sample) for sample in (probabilities, *inference_samples)})
    samples = inference_samples if len(inference_samples) > 1 else [probabilities]
    if len(lengths) > 1:
        raise SettingsError(f"distributions over {lengths} outcomes cannot be compared; give all the same outcomes")
    epistemic, aleatoric = decompose(np.asarray(samples, dtype=np.float64)[np.newaxis], method)
    return Uncertainty(entropy, float(epistemic[0]), float(aleatoric[0]), float(epistemic[0] + aleatoric[0]), method)


def decompose(
    samples: NDArray[np.float64], method: UncertaintyMethod = "information"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Epistemic and aleatoric parts of many claims at once; samples has the shape (claims, samples, outcomes)."""
    try:
        return _DECOMPOSITIONS[method](samples)
    except KeyError:
        known = ", ".join(get_args(UncertaintyMethod))
        raise SettingsError(f"unknown uncertainty method {method!r}; choose one of {known}") from None


def semantic_entropy(clusters: Sequence[int], log_probabilities: Sequence[float] | None = None) -> float | None:
    """Entropy over meanings, in nats, of sampled answers whose meanings were clustered (Kuhn et al. 2023).

    Answers weigh the same, or by their sequence log-probabilities when given. None without answers.

    >>> round(semantic_entropy([0, 0, 1, 1]), 6)
    0.693147
    """
    if not clusters:
        return None
    weights = np.ones(len(clusters))
    if log_probabilities is not None:
        logs = np.asarray(log_probabilities, dtype=np.float64)
        if len(logs) != len(clusters) or not np.isfinite(logs).all():
            raise SettingsError(
                f"expected {len(clusters)} finite log-probabilities, one per answer, found {logs.tolist()}"
            )
        weights = np.exp(logs - logs.max())
    masses = np.bincount(np.unique(np.asarray(clusters), return_inverse=True)[1], weights)
    return float(entropy_of(masses / masses.sum()))


def mean_entropy(sums: UncertaintySums) -> Rates:
    """Mean entropy of the judge's distributions over labels, in nats. Undefined without a distribution."""
    return Rates(sums.entropy, sums.claims.astype(np.float64))


def mean_epistemic(sums: UncertaintySums) -> Rates:
    """Mean epistemic part. Undefined without a distribution."""
    return Rates(sums.epistemic, sums.claims.astype(np.float64))


def mean_aleatoric(sums: UncertaintySums) -> Rates:
    """Mean aleatoric part. Undefined without a distribution."""
    return Rates(sums.aleatoric, sums.claims.astype(np.float64))


def mean_total(sums: UncertaintySums) -> Rates:
    """Mean of both parts together. Undefined without a distribution."""
    return Rates(sums.epistemic + sums.aleatoric, sums.claims.astype(np.float64))


def entropy_of(distributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropies of many distributions at once, in nats; the last axis runs over the outcomes."""
    # A sum that is a millionth off is accepted as a distribution, and must not give an entropy below zero.
    shares = distributions / distributions.sum(axis=-1, keepdims=True)
    logs = np.zeros_like(shares)
    np.log(shares, out=logs, where=shares > 0)
    # Adding zero turns the -0.0 of a certain prediction into a plain 0.0.
    return np.asarray(-(shares * logs).sum(axis=-1) + 0.0)


def _information(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    aleatoric = entropy_of(samples).mean(axis=1)
    # Rounding can leave the difference a hair below zero; mutual information cannot be negative.
    return np.maximum(entropy_of(samples.mean(axis=1)) - aleatoric, 0.0), aleatoric


def _variance(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return samples.var(axis=1).sum(axis=-1), (samples * (1 - samples)).sum(axis=-1).mean(axis=1)


def _literal(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return samples.var(axis=1).mean(axis=-1), samples.var(axis=-1).mean(axis=1)


_DECOMPOSITIONS: dict[
    UncertaintyMethod, Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
] = {"information": _information, "variance": _variance, "literal": _literal}
