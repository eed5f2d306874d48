"""Genotypes from the files that geneticists have."""
