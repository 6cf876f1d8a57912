"""`python -m worker.codec_server`: shows encrypted payloads in the Web UI and in the `temporal` CLI.

Whoever may call it may read everything: it listens on the loopback address, and on another one only with a token.
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
from typing import TYPE_CHECKING, NoReturn

from schedules.console.terminal import leave, run
from schedules.errors import SettingsError
from schedules.serve.access import Token
from schedules.server.codec_keys import KEYS, KEYS_FILE, TOKEN, codec_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

ADDRESS = ("127.0.0.1", 8888)
UI_ORIGINS = ("http://localhost:8233", "http://127.0.0.1:8233")
"""Where the dev server has its Web UI."""


async def serve(options: argparse.Namespace) -> None:
    """Serves until a signal asks to stop. Raises SettingsError and AddressInUseError."""
    from schedules.serve.serving import serving
    from worker.codec_http import CodecServer
    from worker.process.lifecycle import Stop

    keys, token = codec_keys(), Token.of(os.environ.get(TOKEN), None, TOKEN)
    if not keys.keys:
        raise SettingsError(f"there are no keys; set {KEYS_FILE} or {KEYS}")
    host, _ = options.address
    if not token and not _is_loopback(host):
        raise SettingsError(
            f"--address {host} can be reached from other machines, which could read everything; set {TOKEN}"
        )
    server, stop = CodecServer(keys, options.origin or UI_ORIGINS, token), Stop(_leave)
    with stop.on_signals(asyncio.get_running_loop()):
        async with serving(server.application(), options.address, "--address") as url:
            print(f"codec server: {url}", flush=True)
            await stop.asked.wait()


def _leave(number: int) -> None:
    leave(128 + number)


def execute(options: argparse.Namespace) -> int:
    """Serves until a signal asks to stop. Raises TickwrightError."""
    asyncio.run(serve(options))
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m worker.codec_server`."""
    parser = argparse.ArgumentParser(
        prog="python -m worker.codec_server",
        description="Decrypt payloads for the Web UI and the temporal CLI, with the keys of the workers.",
        epilog=f"The keys are those of {KEYS_FILE} or {KEYS}. With {TOKEN}, callers must send this token as a bearer token.",
    )
    parser.add_argument(
        "--address",
        type=_address,
        default=ADDRESS,
        metavar="HOST:PORT",
        help="where to listen (default: 127.0.0.1:8888)",
    )
    parser.add_argument(
        "--origin",
        action="append",
        metavar="URL",
        help=f"address of a Web UI that may call the server, such as http://127.0.0.1:8080; may be repeated (default: {', '.join(UI_ORIGINS)})",
    )
    parser.set_defaults(execute=execute)
    run(parser, arguments)


def _address(text: str) -> tuple[str, int]:
    from schedules.text.address import host_and_port

    try:
        return host_and_port(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


if __name__ == "__main__":
    main()
