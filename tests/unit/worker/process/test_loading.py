"""What a worker loads at its start, in a process of its own: nothing that only some runs need."""

from __future__ import annotations

import json
import subprocess
import sys

LOADED = """
import gc, json, os, sys
from worker.process.loading import light_loading
with light_loading():
    import worker.app, worker.logs, worker.metrics.sdk_metrics, worker.settings
print(json.dumps({
    "modules": sorted(sys.modules),
    "environ": [name for name in os.environ if name.startswith("PYDANTIC")],
    "collecting": gc.isenabled(),
}))
import rich.console
"""


def loaded(before: str = "") -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", before + LOADED], capture_output=True, text=True, check=True)
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_a_worker_starts_without_what_only_some_runs_need() -> None:
    """Rich comes with structlog otherwise; after the start a user's module may load it."""
    modules = loaded()["modules"]
    assert isinstance(modules, list)
    for needless in ("rich", "aiohttp", "apprise", "holidays", "yaml", "schedules.cron", "activities.idempotency"):
        assert needless not in modules
    assert "structlog" in modules


def test_what_was_changed_for_the_loading_is_as_before_afterwards() -> None:
    told = loaded()
    assert (told["environ"], told["collecting"]) == ([], True)


def test_what_the_user_had_set_stays() -> None:
    told = loaded(
        "import gc, os; gc.disable(); os.environ['PYDANTIC_DISABLE_PLUGINS'] = 'logfire-plugin'; import rich\n"
    )
    assert (told["environ"], told["collecting"]) == (["PYDANTIC_DISABLE_PLUGINS"], False)
