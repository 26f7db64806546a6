"""Connect to the results database, migrate its schema, and read and write the rows of studies, runs and attempts."""
