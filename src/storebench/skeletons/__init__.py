"""Skeletons of studies and stores, written by `storebench new`. Runs of unchanged skeletons are verified."""
