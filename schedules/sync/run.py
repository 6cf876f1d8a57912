"""One run of `sync` against a connected server, from the plan to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.console.signals import stop_on_signals, unless_interrupted
from schedules.console.terminal import STDOUT, say, say_lines
from schedules.errors import NOT_TRIED, PreflightError, SettingsError, UnsafePlanError
from schedules.plan.encryption import sealed
from schedules.plan.file import PlanFileError, StalePlanError, from_json, other_namespace, stale, to_json
from schedules.plan.plan import Applied, Rules
from schedules.server.codec import active_key
from schedules.server.gateway import TemporalGateway
from schedules.server.pace import Pace
from schedules.server.workers import Workers
from schedules.source.files import would_be_read
from schedules.source.modules import is_reference
from schedules.sync.apply import REPLANS
from schedules.sync.audit import audit_of
from schedules.sync.observe import foreign_attributes
from schedules.sync.preflight import preflight, unregistered
from schedules.sync.reconcile import apply_plan, plan_sync, zone_warnings
from schedules.views.plan import document, result_text
from schedules.views.plan_lines import plan_lines
from schedules.views.plan_markdown import plan_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from temporalio.client import Client

    from schedules.errors import TickwrightError
    from schedules.model import DesiredSchedule, ListedSchedule
    from schedules.plan.file import PlanFile
    from schedules.plan.plan import Plan
    from schedules.sync.options import SyncOptions

IN_SYNC, FAILED, CHANGES_FOUND = 0, 1, 3


class SyncRun:
    """One call of `sync`, from the moment that it has specs and a client."""

    def __init__(
        self,
        options: SyncOptions,
        owner: str,
        desired: Mapping[str, DesiredSchedule],
        now: datetime,
        client: Client,
    ) -> None:
        self._options = options
        self._owner = owner
        self._desired = sealed(desired, active_key(client.data_converter))
        self._now = now
        self._client = client
        self._pace = Pace(options.rate)
        self._gateway = TemporalGateway(client, self._pace)
        self._look = options.look

    async def run(self, listed: Sequence[ListedSchedule]) -> int:
        """The exit code; `listed` is what List shows of the owner. Raises TickwrightError for what ends it early."""
        _check(self._options)
        kept = await self._kept_plan()
        plan = await self._plan(listed, kept.rules if kept else None)
        if kept and (differences := stale(kept, plan)):
            raise StalePlanError(differences)
        found = await self._preflight(plan)
        refusal = _refusal(plan, self._options, found, look=self._look)
        others = [*_over(plan), *await self._before_a_sync(plan)]
        if self._look or self._options.deep:
            others += foreign_attributes(listed)
        _say_warnings(others if isinstance(refusal, PreflightError) else [*found, *others])  # It tells what was found.
        warnings = [*found, *others]
        if refusal or self._look:
            return await self._show_plan(plan, warnings, refusal)
        return await self._apply(plan, warnings, replans=0 if kept else REPLANS)

    async def _kept_plan(self) -> Plan | None:
        if not (name := self._options.apply_plan):
            return None
        kept = _read(name)
        if other := other_namespace(kept.namespace, await self._gateway.namespace()):
            raise PlanFileError(f"--apply-plan {name}: {other}")
        return kept.plan

    async def _plan(self, listed: Sequence[ListedSchedule], rules: Rules | None) -> Plan:
        options = self._options
        rules = rules or Rules(prune=options.prune, adopt=options.adopt)
        return await plan_sync(
            self._gateway, self._owner, self._desired, self._now, rules=rules, deep=options.deep, listed=listed
        )

    async def _preflight(self, plan: Plan) -> list[str]:
        """The faults that would keep jobs from running. A sync that has nothing to do looks only where that was asked for."""
        options = self._options
        if not options.preflight or not (plan.changes or self._look or options.strict or options.deep):
            return []
        asked = preflight(plan, self._desired.values(), Workers(self._client), ask=not self._look)
        return await unless_interrupted(asked)

    async def _before_a_sync(self, plan: Plan) -> list[str]:
        """Warnings about what an apply would meet, for a dry run."""
        if not self._look:
            return []
        refused = _unsafe(plan, self._options.max_delete)
        told = [f"a sync would be {refused}"] if refused else []
        return told if not self._options.preflight else [*told, *await unregistered(plan, self._gateway)]

    async def _show_plan(self, plan: Plan, warnings: Sequence[str], refusal: TickwrightError | None) -> int:
        planned = [Applied(change, "planned") for change in plan.changes]
        self._document(plan, planned, warnings, refused=str(refusal or ""))
        if self._options.output == "text":
            say_lines(plan_lines(plan))
        if refusal:
            say(str(refusal))
            return refusal.exit_code
        if self._options.plan_out:
            _write(self._options.plan_out, to_json(plan, await self._gateway.namespace()))
        return CHANGES_FOUND if self._options.check and plan.changes else IN_SYNC

    async def _apply(self, plan: Plan, warnings: Sequence[str], *, replans: int) -> int:
        if self._options.output == "text":
            say_lines(plan_lines(plan))
        stop, caught = stop_on_signals()
        audit = audit_of(self._options.paths)
        results = await apply_plan(plan, self._gateway, stop, audit, replans=replans, limit=lambda: self._pace.limit)
        if not caught and not any(item.error == NOT_TRIED for item in results):
            warnings = [*warnings, *await self._zone_warnings(results)]
        self._document(plan, results, warnings, interrupted=bool(caught))
        if self._options.output == "text" and plan.changes:
            say(result_text(plan, results, interrupted=bool(caught)))
        if caught:
            return 128 + caught[0]
        return FAILED if any(item.result == "failed" for item in results) else IN_SYNC

    async def _zone_warnings(self, results: Sequence[Applied]) -> list[str]:
        found = await zone_warnings(self._gateway, results, self._now)
        _say_warnings(found)
        return found

    def _document(
        self,
        plan: Plan,
        results: Sequence[Applied],
        warnings: Sequence[str],
        *,
        interrupted: bool = False,
        refused: str = "",
    ) -> None:
        match self._options.output:
            case "json":
                found = document(plan, results, interrupted=interrupted, warnings=warnings, refused=refused)
                STDOUT.answer(json.dumps(found, indent=2) + "\n")
            case "markdown":
                STDOUT.answer(plan_markdown(plan, results, warnings, refused))


def _check(options: SyncOptions) -> None:
    """Options that do not fit together. Raises SettingsError."""
    if options.apply_plan and (not options.prune or options.adopt):
        raise SettingsError("--apply-plan uses the rules of its plan; write --no-prune and --adopt with --plan-out")
    file = options.plan_out
    if file and any(not is_reference(path) and would_be_read(Path(file), Path(path)) for path in options.paths):
        raise SettingsError(
            f"--plan-out {file}: the next sync would read it as a spec file; write it to another folder or with another ending"
        )


def _refusal(
    plan: Plan, options: SyncOptions, found: Sequence[str], *, look: bool
) -> PreflightError | UnsafePlanError | None:
    """The reason for which nothing of the plan may be done."""
    if found and options.strict:
        return PreflightError(found)
    return None if look else _unsafe(plan, options.max_delete)


def _unsafe(plan: Plan, max_delete: int | None) -> UnsafePlanError | None:
    try:
        plan.raise_if_unsafe(max_delete)
    except UnsafePlanError as error:
        return error
    return None


def _over(plan: Plan) -> list[str]:
    """A job whose times are all over gets no schedule: it must not look as if it had one."""
    return [
        f"{job} gets no schedule, because all its times have passed; remove it, or give it a later time"
        for job in plan.over
    ]


def _say_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        say(f"warning: {warning}")


def _read(file: str) -> PlanFile:
    try:
        return from_json(Path(file).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--apply-plan {file}: cannot be read: {error}") from error
    except PlanFileError as error:
        raise PlanFileError(f"--apply-plan {file}: {error}") from error


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text)
    except OSError as error:
        raise SettingsError(f"--plan-out {file}: cannot be written: {error.strerror}") from error
