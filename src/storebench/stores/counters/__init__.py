"""The counters of the servers that stores of several studies use: a module for each server.

Each module has COUNTERS, which docs/counters.md lists, and a function `read`.
"""
