"""Audit the answers of a Spark table inside your own job. Needs: pip install 'hallumeter[spark]'."""

import os
import sys
import warnings
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from hallumeter import AuditSettings, audit_batch

SETTINGS = AuditSettings(judges=("embedded:fast",))
TOWER = "The Eiffel Tower is 330 m high and stands in Paris."
ROWS = [
    ("a1", "The Eiffel Tower is 330 m high.", TOWER),
    ("a2", "The Eiffel Tower is 999 m high.", TOWER),
    ("a3", "The Eiffel Tower stands in Lyon.", TOWER),
]


def audited(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What Spark calls on its workers."""
    for batch in batches:
        yield from audit_batch(pa.Table.from_batches([batch]), SETTINGS).to_batches()


def main() -> None:
    """Start Spark on this machine, audit, and print the verdicts."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    answers = spark.createDataFrame(ROWS, "id string, response string, evidence string")
    schema = from_arrow_schema(audit_batch(pa.table({"id": []}), SETTINGS).schema)
    verdicts = answers.mapInArrow(audited, schema)
    for row in verdicts.select("record_id", "text", "label").orderBy("record_id").collect():
        print(row.record_id, row.label, row.text, sep="\t")
    spark.stop()


if __name__ == "__main__":
    main()
