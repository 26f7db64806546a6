"""Do one operation by several pods, the parts of the attempt."""
