"""One run of `sync` against a connected server, from the plan to the exit code."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.apply import REPLANS, Applied
from schedules.audit import audit_of
from schedules.errors import PreflightError, SettingsError
from schedules.gateway import TemporalGateway
from schedules.markdown import plan_markdown
from schedules.pace import Pace
from schedules.plan import Rules
from schedules.plan_json import PlanFileError, StalePlanError, from_json, stale, to_json
from schedules.preflight import preflight
from schedules.reconcile import Depth, apply_plan, plan_sync, zone_warnings
from schedules.render import document, plan_lines, result_text
from schedules.terminal import STDOUT, say, say_lines
from schedules.workers import Workers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from temporalio.client import Client

    from schedules.model import DesiredSchedule, ListedSchedule
    from schedules.plan import Plan

IN_SYNC, FAILED, CHANGES_FOUND = 0, 1, 3


class SyncRun:
    """What one call of `sync` does once it has specs and a client."""

    def __init__(
        self,
        options: argparse.Namespace,
        owner: str,
        desired: Mapping[str, DesiredSchedule],
        now: datetime,
        client: Client,
    ) -> None:
        self._options = options
        self._owner = owner
        self._desired = desired
        self._now = now
        self._client = client
        self._gateway = TemporalGateway(client, Pace(options.rate))
        self._look = bool(options.dry_run or options.check or options.plan_out)

    async def run(self, listed: Sequence[ListedSchedule]) -> int:
        """The exit code; `listed` is what List shows of the owner. Raises TickwrightError for what ends it early."""
        if self._options.apply_plan and (self._options.no_prune or self._options.adopt):
            raise SettingsError("--apply-plan has the rules of its plan; give --no-prune and --adopt with --plan-out")
        kept = self._kept_plan()
        plan = await self._plan(listed, kept.rules if kept else None)
        if kept and (differences := stale(kept, plan)):
            raise StalePlanError(differences)
        warnings = [*_over(plan), *await self._warnings(plan)]
        if self._look:
            return self._show_plan(plan, warnings)
        plan.raise_if_unsafe(self._options.max_delete)
        return await self._apply(plan, warnings, replans=0 if kept else REPLANS)

    def _kept_plan(self) -> Plan | None:
        if not self._options.apply_plan:
            return None
        try:
            return from_json(Path(self._options.apply_plan).read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"--apply-plan {self._options.apply_plan}: cannot be read: {error}") from error
        except PlanFileError as error:
            raise PlanFileError(f"--apply-plan {self._options.apply_plan}: {error}") from error

    async def _plan(self, listed: Sequence[ListedSchedule], rules: Rules | None) -> Plan:
        """A plan that people will look at, or may take over what others own, describes all that it is not sure of."""
        options = self._options
        rules = rules or Rules(prune=not options.no_prune, adopt=options.adopt)
        sure = self._look or rules.adopt or bool(options.apply_plan)
        depth = Depth(deep=options.deep, sure=sure)
        return await plan_sync(
            self._gateway, self._owner, self._desired, self._now, rules=rules, depth=depth, listed=listed
        )

    async def _warnings(self, plan: Plan) -> list[str]:
        """What stands against the jobs of the plan running. Raises PreflightError with --strict."""
        if self._options.no_preflight or not plan.changes:
            return []
        found = await preflight(plan, self._gateway, Workers(self._client), ask=not self._look)
        if found and self._options.strict:
            raise PreflightError(found)
        for warning in found:
            say(f"warning: {warning}")
        return found

    def _show_plan(self, plan: Plan, warnings: Sequence[str]) -> int:
        planned = [Applied(change, "planned") for change in plan.changes]
        self._document(plan, planned, warnings)
        if self._options.output == "text":
            say_lines(plan_lines(plan))
        if self._options.plan_out:
            _write(self._options.plan_out, to_json(plan))
        return CHANGES_FOUND if self._options.check and plan.changes else IN_SYNC

    async def _apply(self, plan: Plan, warnings: Sequence[str], *, replans: int) -> int:
        if self._options.output == "text":
            say_lines(plan_lines(plan))
        stop, caught = stop_on_signals()
        audit = audit_of(self._options.paths)
        results = await apply_plan(plan, self._gateway, stop, audit, replans=replans)
        if not caught:
            warnings = [*warnings, *await self._zone_warnings(results)]
        self._document(plan, results, warnings, interrupted=bool(caught))
        if self._options.output == "text" and plan.changes:
            say(result_text(plan, results, interrupted=bool(caught)))
        if caught:
            return 128 + caught[0]
        return FAILED if any(item.result == "failed" for item in results) else IN_SYNC

    async def _zone_warnings(self, results: Sequence[Applied]) -> list[str]:
        found = await zone_warnings(self._gateway, results, self._now)
        for warning in found:
            say(f"warning: {warning}")
        return found

    def _document(
        self, plan: Plan, results: Sequence[Applied], warnings: Sequence[str], *, interrupted: bool = False
    ) -> None:
        match self._options.output:
            case "json":
                found = document(plan, results, interrupted=interrupted, warnings=warnings)
                STDOUT.answer(json.dumps(found, indent=2) + "\n")
            case "markdown":
                STDOUT.answer(plan_markdown(plan, results, warnings))


def _over(plan: Plan) -> list[str]:
    """A job whose times are all over gets no schedule: it must not look as if it had one."""
    found = [
        f"{job} gets no schedule: no time of it is left; remove it, or give it a time to come" for job in plan.over
    ]
    for warning in found:
        say(f"warning: {warning}")
    return found


def stop_on_signals() -> tuple[asyncio.Event, list[int]]:
    """An event that SIGINT and SIGTERM set, and the signals caught: what is under way is finished, so that it is known."""
    stop, caught = asyncio.Event(), list[int]()

    def on_signal(number: int) -> None:
        caught.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return stop, caught


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text)
    except OSError as error:
        raise SettingsError(f"--plan-out {file}: cannot be written: {error.strerror}") from error
