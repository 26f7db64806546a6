"""The stores of the study queries."""
