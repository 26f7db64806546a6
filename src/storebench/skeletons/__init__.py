"""Skeletons of studies and stores of one's own, which run verified as they are: `storebench new` writes them."""
