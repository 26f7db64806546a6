"""Print answers of commands to a terminal."""
