"""The neutral value between a format's loader and the writer: one job as it was, with all that was said about it on the way. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from schedules.importing.rules import OldRule

Kind = Literal["kept", "hint", "changed", "question", "refused"]
"""kept: worth knowing, and the same as before. hint: the spec has a better word for it; nothing was changed. changed: it will be
different. question: the job is written commented out until somebody answers. refused: no spec can be written."""
JobClass = Literal["exact", "changed", "decide", "cannot"]
CLASSES: tuple[JobClass, ...] = ("exact", "changed", "decide", "cannot")


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that a person should know about an imported job. `id` is stable, for programs."""

    id: str
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy in words: as it was on the old side, as it will be here."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class OldJob:
    """One job of a source. `job` holds the keys of the spec that it gets, in the order in which they are written."""

    file: str
    line: int  #: 0 where the format has names instead of lines
    name: str  #: its name on the old side, or "" where the format has none
    source: str  #: the old line, or lines, shown above the job
    naming: Sequence[str]  #: words to make the new name from, most telling first
    job: Mapping[str, Any] = field(default_factory=dict)
    rule: OldRule | None = None  #: None where its times are not known (`@reboot`) or it has no spec
    policies: Sequence[Policy] = ()
    remarks: Sequence[Remark] = ()

    @property
    def place(self) -> str:
        """`FILE:LINE`, or `FILE: NAME` with the old name."""
        return f"{self.file}:{self.line}" if self.line else f"{self.file}: {self.name}"

    def saying(self, *remarks: Remark) -> OldJob:
        """The same job with more remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))

    @property
    def job_class(self) -> JobClass:
        """What became of it, by its worst remark."""
        kinds = {remark.kind for remark in self.remarks}
        if "refused" in kinds:
            return "cannot"
        if "question" in kinds:
            return "decide"
        return "changed" if "changed" in kinds else "exact"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line, or a part of a file, that was not carried over."""

    file: str
    line: int
    text: str
    #: Whether it is certain that it is no job; else it may be one that could not be read.
    no_job: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loader found in one source."""

    jobs: Sequence[OldJob] = ()
    dropped: Sequence[Dropped] = ()
