"""What came of a soak: figures, and every discrepancy with what was seen."""

from __future__ import annotations

import json
import pickle
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.soak.answers import compare, compare_explained, compare_status
from tests.soak.jobs import PROJECT, Job
from tests.soak.oracle import Finding, judge
from tests.soak.seen import Run, job_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.soak.facts import Facts

SEVERAL = frozenset({"chain", "fan"})
ON_TIME = 1.0
EVENTS, TASKS = 11, 2
"""Of a run on time with one step that succeeds at once."""


@dataclass
class Report:
    """`counts` are of cases by state and what became of them; `figures` are the rest."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    figures: dict[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        kinds = Counter(finding.kind for finding in self.findings)
        head = [json.dumps(self.figures), json.dumps(dict(sorted(self.counts.items())))]
        return "\n".join([*head, f"{len(self.findings)} findings: {dict(kinds)}", *map(str, self.findings)])


def report(facts: Facts) -> Report:
    """Compares what happened, and what the product says of it, with what should have."""
    found = Report(figures=_figures(facts))
    for name in facts.versions:
        ground = facts.ground(name)
        judgement = judge(ground, facts.begin, facts.end, facts.now)
        found.findings += judgement.findings
        found.counts += judgement.counts
        if name in facts.lines:
            found.findings += compare(ground, ground.cases(facts.begin, facts.end), facts.lines[name])
    found.findings += _strangers(facts)
    found.findings += _triggered(facts)
    found.findings += _effects(facts)
    found.findings += compare_explained(facts.explained, facts.lines)
    found.findings += compare_status(facts.missed, facts.lines, facts.end)
    return found


def _figures(facts: Facts) -> dict[str, object]:
    runs = [run for each in facts.seen.runs.values() for run in each]
    sizes = Counter(f"{run.events} events, {run.tasks} tasks" for run in runs if _simple(facts, run))
    return {
        "scheduler": facts.scheduler,
        "seconds": round(facts.end - facts.begin),
        "faults": dict(Counter(event["name"] for event in facts.events if event["what"] == "fault")),
        "runs": len(runs),
        "worked": sum(run.worked for run in runs),
        "booked": len(facts.seen.booked),
        "posted": len(facts.seen.posted),
        "pauses": len(facts.pauses),
        "asked": len(facts.asked),
        "triggered": len(facts.triggered),
        "on time, one step": dict(sizes.most_common(3)),
    }


def _simple(facts: Facts, run: Run) -> bool:
    """Started and taken on time, with one step, and a success."""
    at, job = time_of(run.id), _first(facts, job_of(run.id))
    if at is None or job is None or job.kind in SEVERAL or run.status != "succeeded" or not run.worked:
        return False
    return not job.jitter and (run.taken or 0) - at < ON_TIME and not run.parent


def _first(facts: Facts, name: str) -> Job | None:
    return facts.versions[name][0][2] if name in facts.versions else None


def _strangers(facts: Facts) -> Iterator[Finding]:
    """Runs that nobody asked for and that stand for no time."""
    claimed = {each.workflow_id for each in facts.triggered if each.code == 0}
    for name, runs in facts.seen.runs.items():
        job, at = job_of(name), time_of(name)
        known = at and any(version.due(at - 1, at) for _, _, version in facts.versions.get(job, []))
        cut = at and any(each.code is None and each.begin - 2 < at < each.end + 2 for each in facts.triggered)
        if facts.begin < runs[0].started < facts.end and not known and not cut and name not in claimed:
            yield Finding("stranger", job or name, runs[0].started, f"{name}: {len(runs)} runs, {runs[0].verdict}")


def _triggered(facts: Facts) -> Iterator[Finding]:
    """Requests for a run now that were accepted have one."""
    for each in facts.triggered:
        runs = facts.seen.runs.get(each.workflow_id, [])
        worked = sum(run.worked for run in runs)
        if each.code == 0 and worked != 1 and not any(run.status in {"cancelled", "terminated"} for run in runs):
            yield Finding("doubled" if worked else "lost", each.job, each.begin, f"{worked} ran of {each}")


def _effects(facts: Facts) -> Iterator[Finding]:
    """What succeeded has booked and posted under its own key; what is booked twice is doubled."""
    for key, count in facts.seen.booked.items():
        if count > 1:
            yield Finding("doubled", key, facts.begin, f"booked {count} times")
    for name, runs in facts.seen.runs.items():
        job, at = _first(facts, job_of(name)), time_of(name)
        if job is None or at is None or not any(run.status == "succeeded" and run.worked for run in runs):
            continue
        for step, effects in (("book", facts.seen.booked), ("post", facts.seen.posted)):
            key = f"{PROJECT}/default/{job.name}/{name[-20:]}/{'run' if job.kind == step else step}"
            if (job.kind == step or job.kind in SEVERAL) and not effects[key]:
                yield Finding("lost", job.name, at, f"succeeded without its effect {key}")


def main() -> None:
    """Judges a soak again whose folder is given."""
    facts: Facts = pickle.loads((Path(sys.argv[1]) / "facts.pickle").read_bytes())
    print(report(facts).text)


if __name__ == "__main__":
    main()
