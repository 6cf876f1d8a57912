"""The report of an import: per job its times, what changed and what needs an answer, as text, Markdown and JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from activities.occurrence import stamp
from schedules.importing.imported import Imported
from schedules.importing.old_job import CLASSES, JobClass, OldJob, Policy
from schedules.importing.proof import Proof
from schedules.text.shown import some_of

MEANING: Final[dict[JobClass, str]] = {
    "exact": "the same as before",
    "changed": "the same, except for the remarks",
    "decide": "written commented out: it needs an answer",
    "cannot": "not written: no spec can express it",
}
SHOWN: Final = 5
WORDS: Final = {"kept": "note", "hint": "hint", "changed": "changed", "question": "question", "refused": "cannot"}


def document(found: Imported, file: str | None) -> dict[str, Any]:
    """The JSON document. Times are RFC 3339 in UTC; `file` is the spec file that was written, or null."""
    return {
        "file": file,
        "counts": dict(found.counts),
        "jobs": [_job_document(name, job, found.proofs.get(name)) for name, job in found.jobs.items()],
        "dropped": [
            {"file": each.file, "line": each.line or None, "text": each.text, "no_job": each.no_job}
            for each in found.dropped
        ],
        "spec": found.text,
    }


def _job_document(name: str, job: OldJob, proof: Proof | None) -> dict[str, Any]:
    return {
        "name": name,
        "class": job.job_class,
        "file": job.file,
        "line": job.line or None,
        "old_name": job.name or None,
        "source": job.source,
        "job": dict(job.job),
        "times": _times_document(proof),
        "policies": [{"what": each.what, "before": each.before, "after": each.after} for each in job.policies],
        "remarks": [{"id": each.id, "kind": each.kind, "text": each.text} for each in job.remarks],
    }


def _times_document(proof: Proof | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {
        "equal": proof.equal,
        "compared": proof.compared,
        "spans": [{"from": stamp(start), "to": stamp(end)} for start, end in proof.spans],
        "clock_changes": [f"{each:%Y-%m-%d}" for each in proof.clock_changes],
        "differences": [
            {"at": stamp(each.at), "side": each.side, "clock_change": each.clock_change} for each in proof.differences
        ],
        "more_differences": proof.more,
        "next": [stamp(each) for each in proof.upcoming],
    }


def lines(found: Imported) -> Iterator[str]:
    """The report for a terminal: a summary, then each job that is not exact, then policies once for all jobs that share them."""
    yield summary(found)
    for name, job in found.jobs.items():
        yield ""
        yield f"{name}  {job.job_class}  ({job.place})"
        yield f"  times     {times_text(found.proofs.get(name))}"
        yield from (f"  {WORDS[each.kind]:<9} {each.text} [{each.id}]" for each in job.remarks)
        proof = found.proofs.get(name)
        yield from (
            f"            {_difference(proof, index)}" for index in range(len(proof.differences) if proof else 0)
        )
    for policies, names in _by_policies(found).items():
        yield ""
        yield f"policies of {some_of(names, SHOWN)}"
        yield from (f"  {each.what:<12} was: {each.before}; is: {each.after}" for each in policies)
    if found.dropped:
        yield ""
        yield "left out"
        yield from (f"  {each.file}{f':{each.line}' if each.line else ''}: {each.text}" for each in found.dropped)


def markdown(found: Imported) -> str:
    """The report as Markdown: a table of all jobs, then what is to be known of each."""
    rows = [
        f"| `{name}` | {job.job_class} | {_cell(job.place)} | {_cell(times_text(found.proofs.get(name)))} |"
        for name, job in found.jobs.items()
    ]
    parts = [f"**{summary(found)}**", "", "| job | class | from | times |", "|---|---|---|---|", *rows]
    for name, job in found.jobs.items():
        if job.remarks:
            parts += [
                "",
                f"`{name}`",
                "",
                *(f"- {WORDS[each.kind]}: {each.text} (`{each.id}`)" for each in job.remarks),
            ]
    for policies, names in _by_policies(found).items():
        parts += ["", f"Policies of {some_of(names, SHOWN)}", "", "| | before | after |", "|---|---|---|"]
        parts += [f"| {each.what} | {_cell(each.before)} | {_cell(each.after)} |" for each in policies]
    if found.dropped:
        parts += [
            "",
            "Left out",
            "",
            *(f"- {each.file}{f':{each.line}' if each.line else ''}: `{each.text}`" for each in found.dropped),
        ]
    return "\n".join(parts) + "\n"


def summary(found: Imported) -> str:
    """How many jobs there are of each class."""
    total = len(found.jobs)
    counts = ", ".join(f"{found.counts[each]} {each} ({MEANING[each]})" for each in CLASSES if found.counts.get(each))
    left = f"; {len(found.dropped)} line{'s'[: len(found.dropped) > 1]} left out" if found.dropped else ""
    if found.unread:
        left += f", of which {found.unread} may be jobs that could not be read"
    return f"{total} job{'' if total == 1 else 's'}: {counts or 'none'}{left}"


def times_text(proof: Proof | None) -> str:
    """The verdict on a job's times, in words."""
    if proof is None:
        return "not compared"
    whole = len(proof.spans) == 1
    where = (
        f"from {proof.spans[0][0]:%Y-%m-%d} to {proof.spans[-1][1]:%Y-%m-%d}"
        if whole
        else "in the first two days and around each change of clocks"
    )
    clocks = f", {len(proof.clock_changes)} changes of clocks among them" if proof.clock_changes else ""
    if proof.equal and not proof.compared:
        return f"not compared: neither side has a time {where}"
    if proof.equal:
        return f"equal: {proof.compared:,} time{'s'[: proof.compared != 1]} {where}{clocks}"
    count = len(proof.differences) + proof.more
    reason = "all on days on which clocks change" if proof.explained else "without a reason that is known"
    return f"{count:,} of {proof.compared:,} times differ {where}, {reason}"


def _difference(proof: Proof | None, index: int) -> str:
    if proof is None:
        return ""
    each = proof.differences[index]
    return f"{stamp(each.at)} only {'before' if each.side == 'old' else 'from now on'}"


def _by_policies(found: Imported) -> dict[tuple[Policy, ...], list[str]]:
    groups: dict[tuple[Policy, ...], list[str]] = {}
    for name, job in found.jobs.items():
        groups.setdefault(tuple(job.policies), []).append(name)
    return {policies: names for policies, names in groups.items() if policies}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
