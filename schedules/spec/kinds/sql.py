"""`sql`: statements for a database. `activities/handlers/sql` runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from activities.databases import POSTGRESQL, SQLITE
from activities.errors import Problem
from activities.steps.sql_text import statements
from activities.steps.template import NAMES, check, names_used
from schedules.spec.fields import FieldError
from schedules.spec.kinds.files import READ_TEXT, read_named
from schedules.spec.kinds.kind import KindSpec
from schedules.spec.kinds.sql_faults import sql_faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.registry import HandlerRegistry

_EXAMPLE = 'write for example "${secret:WAREHOUSE}"'


def _check_connection(address: str) -> str:
    """An address of a known database without a password in it, or a secret."""
    if address.startswith("${secret:"):
        return address
    if not address.startswith((*POSTGRESQL, SQLITE)):
        raise ValueError(f"begins with neither postgresql:// nor sqlite:///; {_EXAMPLE}")
    try:
        password = urlsplit(address).password
    except ValueError:
        password = None
    if password and "${secret:" not in password:
        raise ValueError(f"has a password in it, which everybody may read who reads the schedule; {_EXAMPLE}")
    return address


class SqlSpec(KindSpec):
    """SQL statements for PostgreSQL or SQLite, in one transaction that a repeated attempt does not repeat."""

    connection: Annotated[str, AfterValidator(_check_connection)] = Field(
        description="Address of the database, `postgresql://…` or `sqlite:///FILE`; usually a secret.",
        examples=["${secret:WAREHOUSE}"],
    )
    statement: str | None = Field(
        default=None,
        description="One statement, or several with `;` between them. `:name` stands for a parameter; templates are not allowed.",
        examples=["DELETE FROM sessions WHERE expires_at < :before"],
    )
    file: str | None = Field(
        default=None,
        description="File with the statements instead, by its path from the spec file's folder. It is read by `sync`.",
        examples=["sql/cleanup.sql"],
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="Values by name. Templates may stand in them; the database never reads them as SQL.",
        examples=[{"before": "{scheduled_at}"}],
    )
    autocommit: bool = Field(
        default=False,
        description="Each statement by itself, without transaction and key: for VACUUM and its like. A retry repeats them.",
    )

    @model_validator(mode="after")
    def _with_text(self, info: ValidationInfo) -> Self:
        if self.statement is not None and self.file is not None:
            raise FieldError("file", "there is a `statement` already; keep one of the two")
        if self.file is None:
            if self.statement is None:
                raise FieldError("statement", "has no SQL; write it as `statement`, or `file` with the path of one")
            return self
        text = read_named(info, READ_TEXT, "file", self.file, "statement=Path(…).read_text()")
        return self.model_copy(update={"statement": text})

    def step_params(self) -> dict[str, Any]:
        """See KindSpec; braces in the SQL are no templates, and empty values are values."""
        text = (self.statement or "").replace("{", "{{").replace("}", "}}")
        return super().step_params() | {"statement": text}

    def described(self) -> str:
        """See KindSpec."""
        titles = [statement.title for statement in statements(self.statement or "")]
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        return f"sql `{titles[0] if titles else ''}`{more}"

    @classmethod
    def trial(cls, params: dict[str, Any]) -> dict[str, Any] | None:
        """See KindSpec: the database, unless a run alone knows which it is."""
        connection = {"connection": params["connection"]}
        return None if names_used(connection) else connection

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec."""
        del registry
        yield from check({name: value for name, value in params.items() if name != "statement"}, NAMES | outputs)
        text = params["statement"].replace("{{", "{").replace("}}", "}")
        for message in sql_faults(text, params.get("parameters", {}), autocommit=params.get("autocommit", False)):
            yield Problem(("file" if "file" in params else "statement",), message)
