"""What is wrong with a script of a `sql` step: templates in it, parameters, and what no transaction can hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from activities.steps.sql_text import Statement, quoted_texts, statements
from activities.steps.step_output import STEPS
from activities.steps.template import NAMES, parts
from schedules.text.nearest import suggestion

_ALONE = re.compile(
    r"VACUUM\b|(?:CREATE|DROP) (?:DATABASE|TABLESPACE)\b|ALTER SYSTEM\b"
    r"|(?:CREATE (?:UNIQUE )?INDEX|DROP INDEX|REINDEX(?: \w+)?) CONCURRENTLY\b|REINDEX (?:DATABASE|SYSTEM)\b"
)
"""What PostgreSQL, or SQLite, refuses within a transaction."""
_ENDS_TRANSACTION = frozenset({"BEGIN", "COMMIT", "END", "ROLLBACK", "ABORT", "START"})
_FOREIGN = re.compile(r"%\((\w+)\)s|%s\b|\$(\d+)\b|\\(\w+)")


def sql_faults(text: str, parameters: Collection[str], *, autocommit: bool) -> Iterator[str]:
    """Each fault once."""
    script = statements(text)
    if not script:
        yield "holds no statement; write the SQL"
        return
    yield from dict.fromkeys(_templates(text))
    yield from _parameters(text, script, parameters)
    for statement in script:
        yield from _foreign(statement)
        if not autocommit:
            yield from _outside(statement)


def _templates(text: str) -> Iterator[str]:
    for part in parts(text):
        if part.kind == "secret":
            yield (
                f"`${{secret:{part.text}}}` within SQL would be read as SQL; write `:{part.text.lower()}` there, and "
                f'`parameters: {{{part.text.lower()}: "${{secret:{part.text}}}"}}`'
            )
        name, _, _ = part.text.partition(":")
        if part.kind == "field" and (name in NAMES or name.startswith(STEPS)):
            own = name.rpartition(".")[2]
            yield (
                f"`{{{part.text}}}` within SQL would be read as SQL; write `:{own}` there without quotes, and "
                f'`parameters: {{{own}: "{{{part.text}}}"}}`'
            )


def _parameters(text: str, script: list[Statement], parameters: Collection[str]) -> Iterator[str]:
    used = dict.fromkeys(name for statement in script for name in statement.parameters)
    for name in used:
        if name not in parameters:
            advice = suggestion(name, sorted(parameters), "parameters") if parameters else "add it to `parameters`"
            yield f"`:{name}` has no value; {advice} (a slice of an array is written with blanks: `a[i : j]`)"
    quoted = " ".join(quoted_texts(text))
    for name in parameters:
        if name not in used:
            hint = f"write `:{name}` where it belongs, or remove it from `parameters`"
            if re.search(rf":{re.escape(name)}\b", quoted):
                hint = f"`:{name}` stands within quotes, where it is text; remove the quotes"
            yield f"the parameter `{name}` is not used; {hint}"


def _foreign(statement: Statement) -> Iterator[str]:
    bare = "".join(token.text for token in statement.tokens if token.kind not in {"quoted", "comment", "parameter"})
    for match in _FOREIGN.finditer(bare):
        if match[3]:
            yield f"line {statement.line}: `\\{match[3]}` is a command of psql, and no SQL; remove it"
        else:
            name = match[1] or "name"
            yield f"line {statement.line}: `{match[0]}` is no parameter here; write `:{name}`, and `{name}` under `parameters`"
    words = statement.words
    if words[:1] == ["COPY"] and not {"STDIN", "STDOUT"}.isdisjoint(words):
        yield f"line {statement.line}: `COPY` has no data to read or write here; run psql in a `command` step"


def _outside(statement: Statement) -> Iterator[str]:
    """What belongs outside of a transaction."""
    first, *more = statement.words or [""]
    if first in _ENDS_TRANSACTION and more[:1] != ["TO"]:
        yield f"line {statement.line}: `{first}`: the whole step is one transaction already; remove it"
    elif _ALONE.match(" ".join(statement.words)):
        yield f"line {statement.line}: `{statement.title}` cannot be in a transaction; add `autocommit: true`"
