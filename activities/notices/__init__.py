"""Notices to people and pings to outside monitors."""
