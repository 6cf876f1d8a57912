"""The `command` handler: real programs."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from tests.integration.step_failures import details_of, failure_of
from tests.step_calls import bench, step_call
from tests.waiting import is_running, pids_in

if TYPE_CHECKING:
    from activities.contract import StepCall

pytestmark = pytest.mark.asyncio


def command(*argv: str, timeout: float = 30.0, **params: Any) -> StepCall:
    return step_call("command", {"argv": list(argv), **params}, timeout=timeout)


def shell(script: str, timeout: float = 30.0, **params: Any) -> StepCall:
    return step_call("command", {"argv": [script], "shell": True, **params}, timeout=timeout)


async def test_output_and_arguments() -> None:
    async with bench() as made:
        result = await made.run(
            command("sh", "-c", 'printf "%s|" "$@"; echo oops >&2', "sh", "{interval_start:%F}", "a b", "*")
        )
    assert result.output == {"exit_code": 0, "stdout": "2027-02-28|a b|*|", "stderr": "oops\n"}


async def test_no_shell_unless_asked() -> None:
    async with bench() as made:
        plain = await made.run(command("echo", "$HOME", ";", "ls"))
        asked = await made.run(shell("x=${{HOME}}; echo ${{x:+set}}; echo $((1+2)) | cat"))
        error = await failure_of(made, step_call("command", {"argv": ["echo", "x"], "shell": True}))
    assert plain.output["stdout"] == "$HOME ; ls\n"
    assert asked.output["stdout"] == "set\n3\n"
    assert error.non_retryable


async def test_command_knows_its_occurrence_and_nothing_of_the_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("TICKWRIGHT_SECRET_X", "TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_KEY_DATA", "TICKWRIGHT_MODULES"):
        monkeypatch.setenv(name, "worker's own")
    monkeypatch.setenv("LANG", "inherited")
    async with bench() as made:
        made.at_attempt(3)
        result = await made.run(command("env", env={"MINE": "{job}", "LANG": "given"}, cwd=str(tmp_path)))
        place = await made.run(command("pwd", cwd=str(tmp_path)))
    lines = result.output["stdout"].splitlines()
    assert "worker's own" not in result.output["stdout"]
    assert {
        "TICKWRIGHT_JOB=invoice-dunning",
        "TICKWRIGHT_STEP=run",
        "TICKWRIGHT_SCHEDULED_AT=2027-03-01T13:00:00Z",
        "TICKWRIGHT_ATTEMPT=3",
        "TICKWRIGHT_IDEMPOTENCY_KEY=billing/production/invoice-dunning/2027-03-01T13:00:00Z/run",
        "MINE=invoice-dunning",
        "LANG=given",
    } <= set(lines)
    assert place.output["stdout"] == f"{tmp_path}\n"


async def test_commands_are_refused_unless_the_worker_allows_them() -> None:
    async with bench(allow_commands=False) as made:
        error = await failure_of(made, command("true"))
    assert error.non_retryable
    assert "TICKWRIGHT_ALLOW_COMMANDS" in error.message


async def test_exit_code_and_last_line_tell_what_failed() -> None:
    async with bench() as made:
        again = await failure_of(made, shell("echo first >&2; echo disk full >&2; exit 3", permanent_exit_codes=[4]))
        never = await failure_of(made, shell("exit 4", permanent_exit_codes=[4]))
    assert (again.type, again.non_retryable) == ("handler_failed", False)
    assert again.message == "`/bin/sh` ended with exit code 3: disk full"
    assert details_of(again)["stderr"] == "first\ndisk full\n"
    assert never.non_retryable


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGHUP", "SIGUSR1"])
async def test_a_killed_command_names_its_signal(name: str) -> None:
    async with bench() as made:
        error = await failure_of(made, shell(f"kill -{int(signal.Signals[name])} $$"))
    assert error.message.endswith(f"was killed by {name}")
    assert not error.non_retryable


async def test_python_s_ignored_signals_are_not_inherited() -> None:
    """With SIGPIPE ignored, `yes | head` would end in an error message instead of quietly."""
    async with bench() as made:
        result = await made.run(command("bash", "-c", "trap -p PIPE; yes | head -1; echo ${{PIPESTATUS[0]}}"))
    assert result.output == {"exit_code": 0, "stdout": "y\n141\n", "stderr": ""}


async def test_a_program_that_cannot_start_is_a_permanent_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sh"
    plain.write_text("echo x\n")
    no_shebang = tmp_path / "no-shebang"
    no_shebang.write_bytes(b"\x00\x01\x02")
    no_shebang.chmod(0o755)
    bad_interpreter = tmp_path / "bad-interpreter"
    bad_interpreter.write_text("#!/no/such/python\n")
    bad_interpreter.chmod(0o755)
    missing = str(tmp_path / "gone")
    async with bench() as made:
        said = {
            "no program `no-such-program`": command("no-such-program"),
            f"no program `{bad_interpreter}`": command(str(bad_interpreter)),
            "not executable": command(str(plain)),
            "first line like": command(str(no_shebang)),
            f"working directory `{missing}`": command("true", cwd=missing),
            f"working directory `{plain}`": command("true", cwd=str(plain)),
            "too long for the system": command("true", "x" * 200_000),
            "NUL": command("true", "a\0b"),
            "half a character": command("true", "a\ud800b"),  # as an output that is JSON may have it
            "must have no `=`": command("true", env={"A=B": "x"}),
            "`argv`": command(),
        }
        for words, call in said.items():
            error = await failure_of(made, call)
            assert error.non_retryable, error.message
            assert words in error.message


def mark(size: str) -> str:
    """What stands between the beginning and the end of a long output."""
    return f"\n… [{size} in all, the first 1 KiB and the last 8 KiB kept] …\n"


async def test_a_flood_of_output_is_read_without_keeping_it() -> None:
    script = "import sys; b = sys.stdout.buffer\nfor n in range(3000): b.write(b'%06d' % n + b'x' * 65530)"
    async with bench() as made:
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = await made.run(command(sys.executable, "-c", script + "\nprint('end')", timeout=60))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    stdout = result.output["stdout"]
    assert stdout.startswith("000000" + "x" * 1018 + mark("196.6 MB"))
    assert len(stdout) == 1024 + len(mark("196.6 MB")) + 8192
    assert stdout.endswith("xxend\n")
    assert grown < 20_000  # of 196,608 KiB written


async def test_the_loop_goes_on_during_a_flood() -> None:
    async with bench() as made:
        running = asyncio.create_task(failure_of(made, command("yes", timeout=1)))
        turns = 0
        while not running.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert (await running).type == "handler_timeout"
    assert turns > 20


async def test_output_that_is_no_text_is_kept_as_far_as_it_is() -> None:
    async with bench() as made:
        result = await made.run(command("printf", r"\377ok\303\274"))
        long = await made.run(command(sys.executable, "-c", "print('ü' * 5000, end='a')"))
    assert result.output["stdout"] == "\ufffdokü"
    assert long.output["stdout"] == "ü" * 512 + mark("10.0 kB") + "ü" * 4095 + "a"


async def test_secrets_are_given_to_the_command_and_not_given_back() -> None:
    def call(end: str) -> StepCall:
        script = f"test $T = s3same && echo $T $1; echo err $T >&2; {end}"
        argv = ["sh", "-c", script, "sh", "${secret:TOKEN}"]
        return step_call("command", {"argv": argv, "env": {"T": "${secret:TOKEN}"}}, timeout=1)

    async with bench(secrets={"TOKEN": "s3same"}) as made:
        ok = await made.run(call("exit 0"))
        failed = await failure_of(made, call("exit 5"))
        hung = await failure_of(made, call("sleep 60"))
    assert ok.output == {"exit_code": 0, "stdout": "*** ***\n", "stderr": "err ***\n"}
    assert failed.message.endswith("exit code 5: err ***")
    assert details_of(hung)["stdout"] == "*** ***\n"
    assert "s3same" not in f"{failed.message} {failed.details} {hung.message} {hung.details}"


async def test_no_part_of_a_secret_is_left_where_the_output_is_cut() -> None:
    async with bench(secrets={"TOKEN": "s3same"}) as made:
        whole = await made.run(_around(before=0, after=8_188))
        in_tail = await made.run(_around(before=2_000, after=8_189))
        in_head = await made.run(_around(before=1_021, after=9_000))
    assert whole.output["stdout"] == "***" + "x" * 8_188
    assert in_tail.output["stdout"] == "y" * 1_024 + mark("10.2 kB") + "x" * 8_189
    assert in_head.output["stdout"] == "y" * 1_021 + mark("10.0 kB") + "x" * 8_192


def _around(*, before: int, after: int) -> StepCall:
    """A secret in the middle of so many characters."""
    text = f"print('y' * {before} + '${{secret:TOKEN}}' + 'x' * {after}, end='')"
    return command(sys.executable, "-c", text)


FAMILY = """
echo $$ >> {file}
sh -c 'echo $$ >> {file}; sleep 60' &
sleep 60 &
echo $! >> {file}
echo ready
wait
"""


async def test_out_of_time_ends_the_whole_family_and_shows_the_output(tmp_path: Path) -> None:
    async with bench() as made:
        running = asyncio.create_task(failure_of(made, shell(FAMILY.format(file=tmp_path / "pids"), timeout=0.6)))
        pids = await pids_in(tmp_path / "pids", 3)
        assert all(map(is_running, pids))
        error = await running
    assert error.type == "handler_timeout"
    assert details_of(error)["stdout"] == "ready\n"
    assert not any(map(is_running, pids))


@pytest.mark.parametrize("drain", [False, True])
async def test_cancelling_or_draining_ends_the_whole_family(tmp_path: Path, *, drain: bool) -> None:
    async with bench() as made:
        running = asyncio.create_task(made.run(shell(FAMILY.format(file=tmp_path / "pids"))))
        pids = await pids_in(tmp_path / "pids", 3)
        if drain:
            made.environment.worker_shutdown()
            made.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
            with pytest.raises(ApplicationError) as failure:
                await running
            assert failure.value.type == "worker_shutdown"
        else:
            made.environment.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
    assert not any(map(is_running, pids))


async def test_sigterm_first_then_sigkill_after_the_grace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("activities.handlers.command.STOP_GRACE", 0.4)
    script = f"trap 'echo got SIGTERM' TERM; echo $$ > {tmp_path / 'pids'}; while :; do sleep 0.05; done"
    async with bench() as made:
        error = await failure_of(made, shell(script, timeout=0.3))
        [pid] = await pids_in(tmp_path / "pids", 1)
    assert details_of(error)["stdout"] == "got SIGTERM\n"
    assert not is_running(pid)


async def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    async with bench() as made:
        await made.run(shell(f"sleep 60 & echo $! > {tmp_path / 'pids'}"))
        [pid] = await pids_in(tmp_path / "pids", 1)
    assert not is_running(pid)


async def test_a_daemon_that_keeps_the_pipe_open_does_not_hold_the_step(tmp_path: Path) -> None:
    """One that leaves the group on purpose (setsid) lives on where its command ends by itself."""
    async with bench() as made:
        result = await made.run(shell(f"setsid sleep 60 & echo $! > {tmp_path / 'pids'}; sleep 0.1", timeout=20))
        [pid] = await pids_in(tmp_path / "pids", 1)
        after = [(await made.run(command("echo", str(number)))).output["stdout"] for number in range(5)]
    assert result.output["exit_code"] == 0
    assert after == ["0\n", "1\n", "2\n", "3\n", "4\n"]
    os.kill(pid, signal.SIGKILL)


def opened() -> set[str]:
    """What this process has open; of a pipe and a socket, which one it is."""
    found = set()
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the folder itself
            found.add(str(file.readlink()))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="nothing tells what is open")
async def test_nothing_is_left_open_after_many_commands() -> None:
    """Clients of other tests in this process may open a connection again meanwhile, but none for each turn."""
    me, turns = psutil.Process(), 10
    async with bench() as made:
        await made.run(command("true"))
        await failure_of(made, command("no-such-program"))
        files, children = opened(), set(me.children())
        for _ in range(turns):
            await made.run(command("true"))
            await failure_of(made, command("no-such-program"))
            await failure_of(made, command("true", cwd="/no/such/place"))
            await failure_of(made, command("sleep", "9", timeout=0.01))
        assert len(opened() - files) < turns
        assert set(me.children()) <= children


@pytest.mark.skipif(sys.platform != "linux", reason="nobody else can find them")
@pytest.mark.parametrize("trap", ["", 'trap "" TERM; '])
async def test_what_left_the_group_of_a_stopped_command_is_ended_too(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.command.STOP_GRACE", 0.3)
    script = f"{trap}echo $$ >> {tmp_path / 'pids'}; sleep 60 & echo $! >> {tmp_path / 'pids'}; wait"
    async with bench() as made:
        error = await failure_of(made, shell(f"setsid sh -c '{script}' & sleep 60", timeout=0.7))
    assert error.type == "handler_timeout"
    assert [pid for pid in await pids_in(tmp_path / "pids", 2) if is_running(pid)] == []


@pytest.mark.skipif(sys.platform != "linux", reason="nobody else can find them")
async def test_a_process_that_answers_sigterm_by_starting_anew_in_another_session_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten at a time: whether the old one and the new are both missed while /proc is read is a matter of chance."""
    monkeypatch.setattr("activities.handlers.command.STOP_GRACE", 0.5)
    pids, script = tmp_path / "pids", tmp_path / "anew.sh"
    script.write_text(
        f"trap 'setsid sh {script} & exit' TERM; echo $$ >> {pids}; while :; do sleep 0.05; done", encoding="utf-8"
    )
    async with bench() as made:
        step = command("sh", str(script), timeout=1.5)
        errors = await asyncio.gather(*(failure_of(made, step) for _ in range(10)))
    assert {error.type for error in errors} == {"handler_timeout"}
    started = list(map(int, pids.read_text().split()))
    left = [pid for pid in started if is_running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert (len(started) >= 10, left) == (True, [])


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("""echo '{{"rows": 3, "files": ["a"]}}'""", {"rows": 3, "files": ["a"]}),
        ("""printf '{{\n  "rows":\n 3}}\n'""", {"rows": 3}),
        ("""echo working; echo '{{"rows": 3}}'""", {"rows": 3}),
        ("""echo '{{"rows": 3}}'; echo done""", {}),
        ("""echo '[1, 2]'""", {}),
        (
            """echo '{{"ratio": NaN}}'""",
            {"no_keys": "the last line of stdout is not valid JSON: NaN is not a JSON number"},
        ),
        ("""echo '{{"stdout": "mine", "exit_code": 7, "rows": 3}}'""", {"rows": 3}),
        ("true", {}),
    ],
)
async def test_the_keys_of_a_json_object_on_stdout_stand_in_the_output(script: str, found: dict[str, Any]) -> None:
    async with bench() as made:
        result = await made.run(shell(script))
    own = {name: result.output[name] for name in ("exit_code", "stdout", "stderr")}
    assert result.output == {**found, **own}
    assert own["exit_code"] == 0
    assert own["stdout"] != "mine"


async def test_a_secret_in_a_json_object_on_stdout_is_taken_out() -> None:
    async with bench(secrets={"TOKEN": "s3same-0pen"}) as made:
        result = await made.run(shell("""echo '{{"token": "${secret:TOKEN}"}}'"""))
    assert result.output["token"] == "***"


async def test_an_output_becomes_text_for_a_command() -> None:
    call = replace(
        command("echo", "{steps.a.output.rows}", "{steps.a.output.list}"), outputs={"a": {"rows": 3, "list": [1]}}
    )
    async with bench() as made:
        result = await made.run(call)
    assert result.output["stdout"] == "3 [1]\n"


async def test_a_last_success_that_cannot_be_read_is_told_with_the_time_that_stands_for_it() -> None:
    """The scheduled time before is 24 hours earlier here."""
    unreadable = "the result of the run before is none of a job's, or cannot be read (KeyError)"
    call = replace(command("echo", "{last_success:%F}"), last_success_unreadable=unreadable)
    async with bench() as made:
        result = await made.run(call)
        other = await made.run(replace(call, step=replace(call.step, params={"argv": ["true"]})))
    assert result.output["stdout"] == "2027-02-28\n"
    assert result.reason == f"`last_success` is the previous scheduled time here: {unreadable}"
    assert other.reason == ""
