"""What each method will find in a study, in the limit and with finite numbers."""
