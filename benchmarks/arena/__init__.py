"""The arena: every method of the catalogue and its peers on the same data sets."""
