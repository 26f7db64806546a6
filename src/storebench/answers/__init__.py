"""Answers of the page's API and of the command line: models, and a function that builds each model."""
