"""Runs that did not begin: how they are noticed, and when people are told."""
