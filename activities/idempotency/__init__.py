"""Effects that happen once: the key that tells a repeat, and `once`, which commits it together with what the effect writes."""

from activities.idempotency.errors import EffectBusyError, EffectsTableError, SupersededAttemptError
from activities.idempotency.migrations import migrate, migration
from activities.idempotency.perform import once
from activities.steps.idempotency_key import MAX_LENGTH, idempotency_key

__all__ = [
    "MAX_LENGTH",
    "EffectBusyError",
    "EffectsTableError",
    "SupersededAttemptError",
    "idempotency_key",
    "migrate",
    "migration",
    "once",
]
