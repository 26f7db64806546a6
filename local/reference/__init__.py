"""Write docs/reference/ from the code."""
