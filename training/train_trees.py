"""Train the trees: once without each fold, for what they say of claims they have not seen, and once on everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np

from .claim_table import MeasuredText
from .folds import fold_of

LEARNED_FROM = ("ragtruth", "quintd1", "written", "d2t_eval", "defacto")
"""SummEdits and WiCE did not help on what was held back of the others."""
ROUNDS = 250
SETTINGS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 24,
    "max_depth": 6,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,
    "deterministic": True,
    "seed": 0,
    "verbose": -1,
}


def trained(texts: Sequence[MeasuredText], *, without: int | None) -> lightgbm.Booster:
    """Trees that have not seen one fold; with None, that have seen all."""
    chosen = [each for each in texts if each.example.data_set.partition("/")[0] in LEARNED_FROM]
    chosen = [each for each in chosen if fold_of(each.example) != without]
    labels = np.concatenate([each.labels for each in chosen])
    features = np.concatenate([each.features for each in chosen])
    known = labels >= 0
    return lightgbm.train(dict(SETTINGS), lightgbm.Dataset(features[known], labels[known]), ROUNDS)


def write_trees(booster: lightgbm.Booster, path: Path) -> None:
    """The trees as the arrays that the package reads."""
    nodes: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "left", "right", "value")}
    roots = []
    depth = 0
    for tree in booster.dump_model()["tree_info"]:
        roots.append(len(nodes["value"]))
        depth = max(depth, _add(tree["tree_structure"], nodes))
    np.savez_compressed(
        path,
        roots=np.asarray(roots, np.int32),
        feature=np.asarray(nodes["feature"], np.int32),
        threshold=np.asarray(nodes["threshold"], np.float64),
        left=np.asarray(nodes["left"], np.int32),
        right=np.asarray(nodes["right"], np.int32),
        value=np.asarray(nodes["value"], np.float64),
        depth=np.asarray(depth),
    )


def _add(node: dict[str, Any], nodes: dict[str, list[Any]]) -> int:
    """Add a node and all below it; how deep they go."""
    place = len(nodes["value"])
    for name, value in {"feature": 0, "threshold": 0.0, "left": place, "right": place, "value": 0.0}.items():
        nodes[name].append(value)
    if "leaf_value" in node:
        nodes["value"][place] = node["leaf_value"]
        return 0
    nodes["feature"][place] = node["split_feature"]
    nodes["threshold"][place] = node["threshold"]
    depths = []
    for side, child in (("left", "left_child"), ("right", "right_child")):
        nodes[side][place] = len(nodes["value"])
        depths.append(_add(node[child], nodes))
    return 1 + max(depths)
