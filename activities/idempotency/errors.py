"""Reasons for which an effect did not happen in this attempt; nothing that it wrote has stayed."""

from __future__ import annotations

from activities.errors import HandlerError


class SupersededAttemptError(HandlerError):
    """A later attempt of the same key has begun, so this one must not commit: it was rolled back."""


class EffectBusyError(HandlerError):
    """An earlier attempt holds what this one needs and could not be ended in time; to be tried again."""


class EffectsTableError(HandlerError):
    """The database has no table for the keys; the message says how to make it."""
