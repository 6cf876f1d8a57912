"""Specs from the schedules that people have: one loader per format, one neutral value, one writer, one proof."""
