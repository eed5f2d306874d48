"""How likely it is that a training cost is far from its mean."""
