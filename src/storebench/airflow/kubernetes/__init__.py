"""Pods, Secrets and volumes as Kubernetes takes them, and calls of its API."""
