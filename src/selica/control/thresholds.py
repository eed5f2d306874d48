"""Selection probabilities from which a variable is selected, where a user names none."""

THRESHOLD = 0.9
"""Probability from which a variable is selected where a bound decides and nothing else was said."""
USUAL_THRESHOLD = 0.6
"""Probability from which a variable is selected where no error rate decides."""
LOWEST_PROBABILITY = 0.1
"""What fewer resamples select is not stable, whatever its estimated error rate."""
