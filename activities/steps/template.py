"""Templates in a step's parameters: `{name}`, `{name:format}` and `{steps.NAME.output.KEY…}`; `${secret:NAME}` is a reference and no template.

Nothing else is evaluated: no attribute or conversion. `{{` and `}}` are literal braces. Keys of mappings are literal: one with
a template or reference in it is refused, since nobody would want it sent as it stands. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from activities.errors import HandlerError, Problem
from activities.steps.step_output import STEPS, as_text, output_problem, pick, step_named
from activities.steps.time_text import is_format, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

Names = Mapping[str, Any]
"""What the names in templates stand for: aware datetimes, texts and numbers; under `steps.NAME` the output of that step."""
TIMES = frozenset({"scheduled_at", "interval_start", "interval_end", "last_success"})
STABLE_NAMES = TIMES | {"job", "step", "run_id"}
"""Names with the same value in every attempt: what belongs in a request body, which an Idempotency-Key stands for."""
NAMES = STABLE_NAMES | {"attempt"}

_PART = re.compile(r"\$\{secret:(?P<secret>[^{}]*)\}|(?P<double>\{\{|\}\})|\{(?P<field>[^{}]*)\}|(?P<stray>[{}])")
_SECRET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
MOST_TOLD = 20
"""Faults of one text."""
_LONGEST_SHOWN, _LONGEST_INSIDE = 60, 1_000
_KEY = "`{0}` is a key, and keys are literal; write templates and secrets in values only"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a string: literal text, the inside of `{…}`, the name in `${secret:…}`, or a brace without partner.

    `quoted`: the inside of `{…}` ended with `| sh`, which is not part of `text`.
    """

    kind: Literal["text", "field", "secret", "stray"]
    text: str
    after_dollar: bool = False
    quoted: bool = False

    @property
    def output_of(self) -> str | None:
        """The step whose output it stands for; None for anything else."""
        return step_named(self.text) if self.kind == "field" else None


def parts(text: str) -> Iterator[Part]:
    """Split `text`; every character of it is in exactly one part."""
    if "{" not in text and "}" not in text:
        yield from [Part("text", text)] if text else []
        return
    end = 0
    for match in _PART.finditer(text):
        if match.start() > end:
            yield Part("text", text[end : match.start()])
        after_dollar = text.endswith("$", 0, match.start())
        end = match.end()
        match match.lastgroup:
            case "double":
                yield Part("text", match["double"][0])
            case "field":
                text_of_field = _unquoted(match["field"])
                yield Part("field", text_of_field, after_dollar, quoted=text_of_field != match["field"])
            case "secret" | "stray" as kind:
                yield Part(kind, match[kind], after_dollar)
    if end < len(text):
        yield Part("text", text[end:])


def _unquoted(field: str) -> str:
    """The inside of `{…}` without `| sh` at its end."""
    before, bar, quoting = field.rpartition("|")
    return before.rstrip() if bar and quoting.strip() == "sh" else field


def strings(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every string in a JSON value with its path; keys of mappings are not among them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from strings(item, (*path, index))


def dynamic_keys(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every key of a mapping in a JSON value that has a template or secret reference in it, with its path."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
        yield from (((*path, key), key) for key in value if isinstance(key, str) and is_dynamic(key))
    elif isinstance(value, list | tuple):
        items = list(enumerate(value))
    for key, item in items:
        yield from dynamic_keys(item, (*path, key))


def is_dynamic(text: str) -> bool:
    """Whether rendering puts something in the place of a part of `text`."""
    return "{" in text and any(part.kind in {"field", "secret"} for part in parts(text))


def names_used(value: Any) -> set[str]:
    """Names that the templates in a JSON value mention, known or not."""
    found = (part for _, text in strings(value) for part in parts(text) if part.kind == "field")
    return {part.text.partition(":")[0] for part in found}


def outputs_used(value: Any) -> set[str]:
    """The steps whose outputs the templates in a JSON value mention."""
    return {step for name in names_used(value) if (step := step_named(name)) is not None}


def secrets_used(value: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Path and name of every secret reference in a JSON value."""
    return [(path, part.text) for path, text in strings(value) for part in parts(text) if part.kind == "secret"]


def check(
    value: Any, allowed: Collection[str] = NAMES, *, but_outputs_at: Collection[tuple[str | int, ...]] = ()
) -> list[Problem]:
    """Everything wrong with the templates in a JSON value, in reading order, then keys that look like templates.

    Of the texts `but_outputs_at` these paths, outputs of steps are for another check.
    """
    found = [
        Problem(path, message)
        for path, text in strings(value)
        for message in islice(_problems(path, text, allowed, but_outputs_at), MOST_TOLD)
    ]
    return found + [Problem(path, _KEY.format(key)) for path, key in dynamic_keys(value)]


def _problems(
    path: tuple[str | int, ...],
    text: str,
    allowed: Collection[str],
    but_outputs_at: Collection[tuple[str | int, ...]],
) -> Iterator[str]:
    """What is wrong with one text, each message once."""
    told: set[str] = set()
    for part in parts(text):
        if part.output_of is not None and path in but_outputs_at:
            continue
        if (message := _problem(part, allowed)) is not None and message not in told:
            told.add(message)
            yield message


def render(value: Any, names: Names, secret: Callable[[str], str] | None = None, *, typed: bool = False) -> Any:
    """A copy of a JSON value with templates and secrets filled in, in one pass: neither can bring in the other.

    With `typed`, a string that is one template of a step's output becomes that JSON value; otherwise, and amid other
    text, its text. Datetimes must be aware. Raises a permanent HandlerError for what `check` reports, for an output that
    is not there, and for a secret when `secret` is None.
    """
    if isinstance(value, str):
        found = list(parts(value))
        if typed and len(found) == 1 and found[0].output_of is not None and not found[0].quoted:
            return output_value(found[0], names)
        return "".join(fill(part, names, secret) for part in found)
    if isinstance(value, dict):
        if key := next((key for key in value if isinstance(key, str) and is_dynamic(key)), None):
            raise HandlerError(_KEY.format(key), permanent=True)
        return {key: render(item, names, secret, typed=typed) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [render(item, names, secret, typed=typed) for item in value]
    return value


def fill(part: Part, names: Names, secret: Callable[[str], str] | None) -> str:
    """The text of one part. Raises a permanent HandlerError, see `render`."""
    if part.kind == "text":
        return part.text
    if part.output_of is not None and not part.quoted:
        return as_text(output_value(part, names))
    if (message := _problem(part, names)) is not None:
        raise HandlerError(message, permanent=True)
    if part.kind == "secret":
        if secret is None:
            raise HandlerError(
                f"`${{secret:{part.text}}}` cannot be used here: it would be stored in the history", permanent=True
            )
        return secret(part.text)
    name, _, form = part.text.partition(":")
    value = names[name]
    return time_text(value, form) if isinstance(value, datetime) else str(value)


def output_value(part: Part, names: Names) -> Any:
    """The value that a template of a step's output leads to. Raises a permanent HandlerError."""
    try:
        return pick(part.text, names)
    except LookupError as error:
        raise HandlerError(str(error.args[0]), permanent=True) from None


def _problem(part: Part, allowed: Collection[str]) -> str | None:
    if len(part.text) > _LONGEST_INSIDE and part.kind in {"field", "secret"}:
        return f"`{{{part.text[:_LONGEST_SHOWN]}…}}` has {len(part.text):,} characters within its braces; write at most {_LONGEST_INSIDE:,}"
    match part.kind:
        case "text":
            return None
        case "stray":
            return f"a single `{part.text}` has no partner; double it for a literal one: `{part.text * 2}`"
        case "secret" if _SECRET_NAME.fullmatch(part.text):
            return None
        case "secret":
            return f"`${{secret:{part.text}}}` is not a name of a secret; write letters, digits and `_`, and begin with no digit"
        case "field":
            return _field_problem(part, allowed)


def _field_problem(part: Part, allowed: Collection[str]) -> str | None:
    name, colon, form = part.text.partition(":")
    if part.quoted:
        return f"`| sh` quotes an output for a shell text, and this is not a shell text; write `{{{part.text}}}`"
    if part.text.startswith(STEPS):
        return output_problem(part.text, allowed)
    if name not in allowed:
        return _unknown(part, allowed)
    if not colon:
        return None
    if name not in TIMES:
        return f"`{name}` takes no format; write `{{{name}}}`"
    if not is_format(form):
        return f"`{form}` is not a date format; write one like `{{{name}:%Y-%m-%d}}`, or `{{{name}}}` for RFC 3339"
    return None


def _unknown(part: Part, allowed: Collection[str]) -> str:
    shown = f"${{{part.text}}}" if part.after_dollar else f"{{{part.text}}}"
    literal = f"${{{{{part.text}}}}}" if part.after_dollar else f"{{{{{part.text}}}}}"
    hint = f"double the brace for a literal one: `{literal}`"
    if part.text.lower().startswith("secret"):
        hint = f"write `${{secret:NAME}}` for a secret, or {hint}"
    elif part.after_dollar:
        hint = f"{hint} leaves it to the shell"
    return f"`{shown}` is not a template here; the names are {', '.join(sorted(name for name in allowed if not name.startswith(STEPS)))}; {hint}"
