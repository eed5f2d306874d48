"""Responses with a general loss: what a row makes of the order parameters."""
