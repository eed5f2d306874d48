"""Selection probabilities from which a variable is selected, where a user names none."""

THRESHOLD = 0.9
"""Probability from which a variable is selected where a bound decides and nothing else was said."""
CARRIED_SHARE = 0.5
"""Variables that half of the rows may select, as a share of these rows: with more the path ends in
fits to noise, and true variables lose their places."""
USUAL_THRESHOLD = 0.6
"""Probability from which a variable is selected where no error rate decides."""
LOWEST_PROBABILITY = 0.1
"""What fewer resamples select is not stable, whatever its estimated error rate."""
