"""Runs that started late: why, and what runs instead of them."""
