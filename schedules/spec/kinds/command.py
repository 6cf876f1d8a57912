"""`command`: a program. `activities/handlers/command.py` starts it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from activities.errors import Problem
from activities.steps.shell_text import shell_places, shell_problems
from activities.steps.template import NAMES, check
from schedules.spec.fields import FieldError, Items, SomeItems, Word
from schedules.spec.kinds.kind import KindSpec, Need
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.registry import HandlerRegistry

ALLOWED = "TICKWRIGHT_ALLOW_COMMANDS=true"


def _check_variable_name(name: str) -> str:
    if not name or re.search(r"[=\0]", name):
        raise ValueError(f'{shown(name)} is not the name of an environment variable; write for example "PGHOST"')
    return name


VariableName = Annotated[str, AfterValidator(_check_variable_name)]
COMMANDS = Need(
    "commands",
    lambda offer: ["commands"] if offer.commands else [],
    "no commands are allowed",
    f"start it with {ALLOWED}",
    setting=ALLOWED,
)
ExitCode = Annotated[int, Field(ge=1, le=255)]


class CommandSpec(KindSpec):
    """A program. Exit code 0 is success."""

    list_means: ClassVar[str] = "argv"

    argv: SomeItems[Word] = Field(
        description="The program and its arguments, one item each.",
        examples=[["./export.sh", "--all"]],
        json_schema_extra={"minItems": 1},
    )
    env: dict[VariableName, Word] = Field(
        default_factory=dict, description="Environment variables added to the worker's."
    )
    cwd: Word | None = Field(default=None, description="Directory to run in; by default the worker's.")
    shell: bool = Field(default=False, description="Give the one string in `argv` to `/bin/sh -c`.")
    permanent_exit_codes: Items[ExitCode] = Field(default=(), description="Exit codes that are not tried again.")

    @model_validator(mode="after")
    def _program_given(self) -> Self:
        if self.shell and len(self.argv) != 1:
            raise FieldError(
                "argv", f"a shell takes one string, not {len(self.argv)}; write the whole command line as one"
            )
        if not self.argv[0]:
            raise FieldError("argv", 'the program is ""; write its name or path first')
        return self

    @classmethod
    def written_out(cls, value: object) -> object:
        """See KindSpec."""
        if isinstance(value, str):
            raise ValueError(  # noqa: TRY004 - pydantic takes a TypeError for a fault of ours
                'must be a list; write for example ["./export.sh", "--all"], or {argv: ["…"], shell: true}'
            )
        return super().written_out(value)

    def described(self) -> str:
        """See KindSpec."""
        return f"command `{' '.join(self.argv)}`"

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec. A shell gets outputs by variables, so that none of them can be read as code."""
        del registry
        places = sorted(shell_places(params))
        for place in places:
            for message in shell_problems(params["argv"][place], NAMES | outputs):
                yield Problem(("argv", place), message)
        yield from check(params, NAMES | outputs, but_outputs_at=[("argv", place) for place in places])

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need:
        """See KindSpec."""
        del params
        return COMMANDS


Argv = Annotated[list[str], Field(min_length=1)]
ShortCommand = BeforeValidator(CommandSpec.written_out, json_schema_input_type=CommandSpec | Argv)
"""Reads a list as `argv`."""
