"""Plans for a table of one's own, and what a data set was like."""
