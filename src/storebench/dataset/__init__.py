"""The dataset: rows, seed and schema version give the same bytes everywhere."""
