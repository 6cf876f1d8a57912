"""Outputs of steps in texts of a shell, as real shells read them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from activities.contract import StepCall
from activities.errors import HandlerError
from activities.steps.shell_text import Quoting, render_shell, shell_places, shell_problems
from activities.steps.step_output import Given
from tests.integration.step_failures import failure_of
from tests.step_calls import bench, step_call

HOSTILE = [
    "plain",
    "a b  c",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "$(touch pwned)`touch pwned`",
    "${HOME} $HOME \\ \\$ *",
    "-n\n# x\nEOF\ntouch pwned",
    "'\"'\"'",
    "ü\u2028😀",
]
V = "{steps.export.output.v | sh}"
BARE = "{steps.export.output.v}"


def run(text: str, value: Any, folder: Path, shell: str = "sh") -> str:
    """What the shell prints."""
    env: dict[str, str] = {}
    script = render_shell(text, {"steps.export": Given({"v": value})}, lambda name: name, env)
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/home/x", **env}
    done = subprocess.run([shell, "-c", script], env=environ, cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (f"printf %s {V}", "{0}"),
        (f"printf %s {BARE}", "{0}"),
        (f"printf %s 'in single {V} quotes'", "in single {0} quotes"),
        (f"printf %s '{BARE}'", "{0}"),
        (f'printf %s "in double {V} quotes"', "in double {0} quotes"),
        (f"printf %s a{V}b'c'{V}", "a{0}bc{0}"),
        (f'printf %s "$(printf "%s|" {V} "{V}")"', "{0}|{0}|"),
        (f"printf %s \"`printf %s '{V}'`\"", None),
        (f"# it's a comment {V}\nprintf %s '{V}'", "{0}"),
        (f"true # it's {V}\nprintf %s {V}", "{0}"),
        (f"printf %s it\\'s{V}", "it's{0}"),
        (f"cat <<EOF\nit's {V}\nEOF\nprintf %s {V}", "it's {0}\n{0}"),
        (f"cat <<-'END' | cat\n\tit's \"\n\tEND\nprintf %s '{V}'", "it's \"\n{0}"),
        (f'x={V}; printf %s "$x"', "{0}"),
        (f"case x in (x) printf %s {V};; esac", "{0}"),
        (f"for i in 1; do printf %s '#'{V}; done", "#{0}"),
        (f"if [ {V} = {V} ]; then printf %s ok; fi", "ok"),
        (f"printf %s $((1<<2)){V}", "4{0}"),
    ],
)
def test_the_value_is_one_word_and_never_runs(
    text: str, printed: str | None, value: str, shell: str, tmp_path: Path
) -> None:
    out = run(text, value, tmp_path, shell)
    assert not list(tmp_path.iterdir())
    if printed is not None:
        # A command substitution takes line feeds off the end, of which there are none here.
        assert out == printed.format(value)


def test_what_is_no_text_comes_as_json(tmp_path: Path) -> None:
    assert run(f"printf %s {V}", {"a": [1, "'"]}, tmp_path) == """{"a":[1,"'"]}"""


def test_no_way_into_a_document_that_is_taken_as_it_is() -> None:
    text = f"cat <<'EOF'\n{V}\nEOF\n"
    with pytest.raises(HandlerError, match="here-document"):
        render_shell(text, {"steps.export": Given({"v": 1})}, str, {})
    assert ["here-document" in message for message in shell_problems(text, {"steps.export"})] == [True]


def test_lint_refuses_the_bare_form_and_writes_the_safe_one_beside_it() -> None:
    [message] = shell_problems(f"echo 'file {BARE}'", {"steps.export"})
    assert "write `{steps.export.output.v | sh}`" in message
    assert "`env`" in message
    assert list(shell_problems(f"echo 'file {V}' {{job}} {{scheduled_at:%F}}", {"steps.export", "job"})) == []
    assert list(shell_problems("echo {steps.other.output | sh}", {"steps.export"}))


@pytest.mark.parametrize(
    ("params", "places"),
    [
        ({"argv": ["echo x"], "shell": True}, {0}),
        ({"argv": ["sh", "-c", "echo x", "y"]}, {2}),
        ({"argv": ["/usr/bin/env", "bash", "-euc", "echo x"]}, {3}),
        ({"argv": ["timeout", "5", "/bin/sh", "-c", "x"]}, {4}),
        ({"argv": ["sh", "-c"]}, set()),
        ({"argv": ["sh", "x.sh", "-c"]}, set()),
        ({"argv": ["tar", "-c", "x"]}, set()),
    ],
)
def test_texts_of_a_shell_are_found(params: dict[str, Any], places: set[int]) -> None:
    assert shell_places(params) == places


def test_quoting_is_followed_over_pieces() -> None:
    quoting = Quoting()
    for piece in ("echo 'a", "b' \"c", '$(echo "d'):
        quoting.feed(piece)
    assert quoting.reference("X") == "${X}"


def told(argv: list[str], **params: Any) -> StepCall:
    return replace(step_call("command", {"argv": argv, **params}), outputs={"export": {"v": "x'; touch pwned; '"}})


@pytest.mark.asyncio
async def test_a_step_is_given_the_text_and_nothing_runs(tmp_path: Path) -> None:
    async with bench() as made:
        for text in (f"echo 'file {BARE}'; ls", f"echo 'file {V}'; ls"):
            for call in (
                told([text], shell=True, cwd=str(tmp_path), env={"A": "{job}"}),
                told(["sh", "-c", text], cwd=str(tmp_path)),
            ):
                result = await made.run(call)
                assert result.output["stdout"] == "file x'; touch pwned; '\n"
        error = await failure_of(made, told(["echo", V]))
    assert "this is not a shell text; write `{steps.export.output.v}`" in error.message
