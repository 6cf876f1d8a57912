"""The mark of `@reboot`. The time engine needs only this of the wire format, which takes as long to load as the engine itself."""

REBOOT = "@reboot"
"""Begins the comment of a calendar that stands for no time: workers start such jobs."""
