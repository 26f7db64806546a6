"""Statistics of figures, without the database: intervals, verdicts, and changes over time."""
