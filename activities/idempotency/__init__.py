"""Effects that happen once: the key that tells a repeat, and `once`, which commits it together with what the effect writes."""

from activities.idempotency.errors import EffectBusyError, EffectsTableError, SupersededAttemptError
from activities.idempotency.key import MAX_LENGTH, idempotency_key
from activities.idempotency.migrations import migrate, migration
from activities.idempotency.perform import once

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
