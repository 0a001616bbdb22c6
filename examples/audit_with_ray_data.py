"""Audit the answers of a Ray dataset inside your own job. Needs: pip install 'hallumeter[ray]' 'ray[data]'."""

import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import pyarrow as pa
import ray

from hallumeter import AuditSettings, audit_batch

SETTINGS = AuditSettings(judges=("embedded:fast",))
TOWER = "The Eiffel Tower is 330 m high and stands in Paris."
ROWS = [
    {"id": "a1", "response": "The Eiffel Tower is 330 m high.", "evidence": TOWER},
    {"id": "a2", "response": "The Eiffel Tower is 999 m high.", "evidence": TOWER},
    {"id": "a3", "response": "The Eiffel Tower stands in Lyon.", "evidence": TOWER},
]


def audited(table: pa.Table) -> pa.Table:
    """What Ray calls on its workers."""
    return audit_batch(table, SETTINGS)


def main() -> None:
    """Start Ray on this machine, audit, and print the verdicts."""
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    verdicts = ray.data.from_arrow(pa.Table.from_pylist(ROWS)).map_batches(audited, batch_format="pyarrow")
    for row in sorted(verdicts.take_all(), key=lambda row: row["record_id"]):
        print(row["record_id"], row["label"], row["text"], sep="\t")
    ray.shutdown()


if __name__ == "__main__":
    main()
