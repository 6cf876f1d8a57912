"""What a worker gives its handlers, by its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.handlers.table import Parts
from worker.containers import containers_of
from worker.modules import type_name
from worker.outputs import outputs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

    from activities.handlers.calls import Calls
    from worker.app import Offer
    from worker.settings import WorkerSettings


def parts_of(
    settings: WorkerSettings, offer: Offer, calls: Calls, session: Callable[[], aiohttp.ClientSession]
) -> Parts:
    """See Parts. Raises SettingsError."""
    return Parts(
        offer.handlers,
        calls,
        session,
        settings.allow_commands,
        [*map(type_name, offer.workflows)],
        outputs_of(settings),
        containers_of(settings),
        settings.kubernetes_namespaces,
    )
