"""Compute statistics of figures: intervals, verdicts, and changes over time. This room uses no database."""
