"""The stores of the study parquet_copy: file systems under Spark."""
