"""What every room may use: scalars, distributions, the one loop, results, errors. Not public."""
