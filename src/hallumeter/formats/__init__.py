"""Files in and out: JSON lines, CSV, Parquet, YAML with line numbers."""
