"""Gaussian rows with any covariance: what ensembles select, predicted column by column."""
