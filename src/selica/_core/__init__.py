"""What every room may use: scalars, laws, the one loop, results, errors. Not public."""
