"""Designs with a given spectrum in the place of independent entries."""
