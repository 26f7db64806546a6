"""The program inside the pod of one attempt."""
