"""Errors that name the place, the cause and the next step, each with its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from schedules.text.shown import printable

THIS_MACHINE = ("localhost:", "127.", "[::1]:")
NOT_TRIED = "not tried: the server is away"
"""The error of a change that was not begun, since another has waited for the server in vain."""


class TickwrightError(Exception):
    """An end that was foreseen: shown as its message, without a traceback."""

    exit_code = 1


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file; lines and columns count from 1, and line 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


Severity = Literal["error", "warning", "info"]
SPEC = "spec"
"""The id of what is wrong with a file or a job itself; a job cannot ignore it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with specs, or that was probably not meant; it says what to write instead."""

    place: Location
    #: The key of the format, such as `jobs.report.schedule[0]`; empty for the file as a whole.
    path: str
    message: str
    #: The id of a finding, or `spec`.
    id: str = SPEC
    severity: Severity = "error"
    #: The name of the job, where a finding is about one.
    job: str = ""

    def __str__(self) -> str:
        """One line, whatever the names and values in it."""
        word = "" if self.severity == "error" else f"{self.severity}: "
        tail = "" if self.id == SPEC else f" [{self.id}]"
        return printable(
            ": ".join(part for part in (str(self.place), self.path, f"{word}{self.message}{tail}") if part)
        )


class SpecError(TickwrightError):
    """Every problem found in the specs of one call; its text is one line per problem."""

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Problems keep the order given; the same one is told once."""
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(map(str, self.problems)))


class ServerError(TickwrightError):
    """The Temporal server refused or could not answer. `code` is the name of the gRPC status, such as `UNAVAILABLE`."""

    def __init__(self, what: str, code: str, detail: str) -> None:
        no_answer = code in {"CANCELLED", "DEADLINE_EXCEEDED"}  # What the client says of a call that took too long.
        super().__init__(
            f"{what}: {'no answer from the server' if no_answer else f'the server answered {code}'}: {detail}"
        )
        self.what, self.code, self.detail = what, code, detail


class ServerAwayError(ServerError):
    """The server gave no answer for as long as one is waited for. What the call asked for may have been done all the same."""


class OvertakenError(ServerError):
    """A schedule is no longer the one that an update was made for. The V2 scheduler says so; V1 drops the update instead."""


class NoNamespaceError(ServerError):
    """The server has no such namespace."""

    def __init__(self, what: str, namespace: str, detail: str) -> None:
        advice = (
            f"set TEMPORAL_NAMESPACE to one that is there, or make it: temporal operator namespace create --namespace {namespace} "
            "(on Temporal Cloud: tcld namespace create)"
        )
        super().__init__(what, "NOT_FOUND", f"{detail}; {advice}")


class MissingAttributesError(TickwrightError):
    """The namespace lacks search attributes and does not let this client register them."""

    def __init__(self, namespace: str, attributes: Sequence[str], detail: str) -> None:
        names = " ".join(f"--name {name} --type Keyword" for name in attributes)
        cloud = " ".join(f'--sa "{name}=Keyword"' for name in attributes)
        super().__init__(
            f"namespace {namespace} lacks the search attributes {', '.join(attributes)} and does not let us register them "
            f"({detail}); run once: temporal operator search-attribute create --namespace {namespace} {names} "
            f"(on Temporal Cloud: tcld namespace search-attributes add --namespace {namespace} {cloud})"
        )


class AttributeTypeError(TickwrightError):
    """The namespace has search attributes of our names, of types that cannot hold our values."""

    def __init__(self, namespace: str, types: Mapping[str, str]) -> None:
        found = ", ".join(f"{name} as {kind}" for name, kind in types.items())
        super().__init__(
            f"namespace {namespace} has the search attributes {found}, and not as Keyword; remove each (temporal operator "
            f"search-attribute remove --namespace {namespace} --name NAME), and sync again"
        )


class UnsafePlanError(TickwrightError):
    """The plan would delete more than is likely to be meant."""

    def __init__(self, owner: str, deletions: int, owned: int) -> None:
        super().__init__(
            f"refused: {deletions} of the {owned} schedules of {owner} would be deleted; nothing was changed. "
            f"If that is meant, give --max-delete {deletions}; to keep them, give --no-prune"
        )


class PreflightError(TickwrightError):
    """What --strict does not let pass."""

    def __init__(self, warnings: Sequence[str]) -> None:
        lines = "\n".join(f"  {warning}" for warning in warnings)
        super().__init__(f"refused with --strict; nothing was changed:\n{lines}")


class OutputError(TickwrightError):
    """Standard output takes nothing: its disk is full, its reader is gone, or it was closed."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror}")


class SettingsError(TickwrightError):
    """A setting of the connection or the command line is wrong."""

    exit_code = 2


class UndecodableError(TickwrightError):
    """A payload was encrypted with a key that is not among ours, or was changed since."""


class UnreachableError(TickwrightError):
    """No Temporal server answered, or it did not let us in."""

    def __init__(self, address: str, detail: str) -> None:
        """For an address of this machine it tells how to get a server there."""
        here = ", or start a server with `tickwright dev`" if address.startswith(THIS_MACHINE) else ""
        super().__init__(
            f"cannot reach Temporal at {address}: {detail}; "
            f"set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or TEMPORAL_TLS_*){here}"
        )
