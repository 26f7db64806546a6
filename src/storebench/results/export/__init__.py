"""Write results to files: bundles, signatures, CSV and Parquet."""
