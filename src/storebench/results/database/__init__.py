"""The results database: connections, schema, and the rows of studies, runs and attempts."""
