"""Stores of the study of column sums with cold and hot caches. Each store is a tool."""
