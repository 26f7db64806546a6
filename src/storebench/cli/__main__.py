"""Run the command line as `python -m storebench.cli`."""

from storebench.cli import main

main()
