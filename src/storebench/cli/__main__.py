"""`python -m storebench.cli`."""

from storebench.cli import main

main()
