"""What runs inside the pod of one attempt."""
