"""The questions a user asks before there is data."""
