"""Audit the answers of a Daft table inside your own job. Needs: pip install 'hallumeter[parquet]' daft."""

import os

os.environ["DAFT_ANALYTICS_ENABLED"] = "0"
os.environ["DAFT_PROGRESS_BAR"] = "0"

import daft
import pyarrow as pa
from daft import DataType, Series, col

from hallumeter import AuditSettings, audit_batch

SETTINGS = AuditSettings(judges=("embedded:fast",))
TOWER = "The Eiffel Tower is 330 m high and stands in Paris."
ANSWERS = {
    "id": ["a1", "a2", "a3"],
    "response": [
        "The Eiffel Tower is 330 m high.",
        "The Eiffel Tower is 999 m high.",
        "The Eiffel Tower stands in Lyon.",
    ],
    "evidence": [TOWER, TOWER, TOWER],
}


@daft.func.batch(  # type: ignore[untyped-decorator]
    return_dtype=DataType.list(DataType.struct({"text": DataType.string(), "label": DataType.string()}))
)
def audited(ids: Series, responses: Series, evidence: Series) -> list[list[dict[str, str]]]:
    """What Daft calls on its workers: a list of verdicts for each answer."""
    columns = {"id": ids.to_arrow(), "response": responses.to_arrow(), "evidence": evidence.to_arrow()}
    rows = audit_batch(pa.table(columns), SETTINGS).to_pylist()
    found: dict[str, list[dict[str, str]]] = {name: [] for name in ids.to_pylist()}
    for row in rows:
        found[row["record_id"]].append({"text": row["text"], "label": row["label"]})
    return list(found.values())


def main() -> None:
    """Audit, and print the verdicts."""
    answers = daft.from_pydict(ANSWERS)
    verdicts = answers.select("id", audited(col("id"), col("response"), col("evidence")).alias("verdict"))
    for row in verdicts.explode("verdict").to_pylist():
        print(row["id"], row["verdict"]["label"], row["verdict"]["text"], sep="\t")


if __name__ == "__main__":
    main()
