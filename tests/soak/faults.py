"""The faults: what is taken away, how, and for how long, in an order that the seed decides."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from random import Random

from tests.soak.world import WORKERS, World

ALL_OF_A = ("a1", "a2")
KILL, TERM = signal.SIGKILL, signal.SIGTERM


async def workers_away(world: World, names: tuple[str, ...], length: float, number: signal.Signals) -> None:
    """Ended, and started again."""
    await asyncio.gather(*(world.end_worker(name, number) for name in names))
    await asyncio.sleep(length)
    await workers_back(world, names)


async def workers_back(world: World, names: tuple[str, ...]) -> None:
    for name in names:
        await world.start_worker(name)
    await asyncio.gather(*(world.until_there(name) for name in names))


async def workers_frozen(world: World, names: tuple[str, ...], length: float) -> None:
    for name in names:
        world.freeze_worker(name)
    await asyncio.sleep(length)
    for name in names:
        world.thaw_worker(name)


async def server_away(world: World, length: float, *, kill: bool, rarely_asked: bool = False) -> None:
    await world.end_server(kill=kill)
    await asyncio.sleep(length)
    await world.start_server(rarely_asked=rarely_asked)


async def one_worker(world: World, random: Random) -> None:
    await workers_away(world, (random.choice(ALL_OF_A),), random.uniform(2, 20), random.choice([KILL, TERM]))


async def one_worker_frozen(world: World, random: Random) -> None:
    await workers_frozen(world, (random.choice(ALL_OF_A),), random.uniform(8, 30))


async def queue_away(world: World, random: Random) -> None:
    names = random.choice([ALL_OF_A, ALL_OF_A, ("b1",), tuple(WORKERS)])
    await workers_away(world, names, random.uniform(20, 70), random.choice([KILL, KILL, TERM]))


async def queue_frozen(world: World, random: Random) -> None:
    await workers_frozen(world, random.choice([ALL_OF_A, ("b1",)]), random.uniform(15, 50))


async def server_killed(world: World, random: Random) -> None:
    await server_away(world, random.uniform(0, 60), kill=True)


async def server_ended(world: World, random: Random) -> None:
    await server_away(world, random.uniform(0, 40), kill=False)


async def server_paused(world: World, random: Random) -> None:
    await world.freeze_server(random.uniform(5, 9))


async def server_hung(world: World, random: Random) -> None:
    await world.freeze_server(random.uniform(25, 45))


async def slow_server(world: World, random: Random) -> None:
    """It gets a part of the time alone."""
    world.log("server is slow")
    for _ in range(random.randint(10, 20)):
        await world.freeze_server(random.uniform(0.5, 2.5))
        await asyncio.sleep(random.uniform(0.5, 1.5))
    world.log("server is slow no more")


async def both(world: World, random: Random) -> None:
    """The workers go first and return last."""
    names = random.choice([ALL_OF_A, tuple(WORKERS)])
    await asyncio.gather(*(world.end_worker(name, KILL) for name in names))
    await asyncio.sleep(random.uniform(0, 20))
    await server_away(world, random.uniform(5, 25), kill=True)
    await asyncio.sleep(random.uniform(0, 20))
    await workers_back(world, names)


async def server_first(world: World, random: Random) -> None:
    """The server goes first and returns last; a worker is started again without it."""
    await world.end_server(kill=True)
    await asyncio.sleep(random.uniform(0, 10))
    name = random.choice(ALL_OF_A)
    await world.end_worker(name, KILL)
    await world.start_worker(name)
    await asyncio.sleep(random.uniform(5, 25))
    await world.start_server()
    await world.until_there(name)


async def rarely_asked(world: World, random: Random) -> None:
    """A server that answers one question about runs in a second, and an outage of workers in that."""
    await server_away(world, random.uniform(0, 5), kill=False, rarely_asked=True)
    await asyncio.sleep(random.uniform(20, 40))
    await workers_away(world, ALL_OF_A, random.uniform(20, 40), KILL)
    await asyncio.sleep(30)
    await server_away(world, 0, kill=False)


async def rolling(world: World, random: Random) -> None:
    for name in ALL_OF_A:
        await workers_away(world, (name,), 0, TERM)


Fault = Callable[[World, Random], Awaitable[None]]
FAULTS: tuple[Fault, ...] = (
    queue_away,
    server_killed,
    one_worker,
    slow_server,
    both,
    queue_frozen,
    server_paused,
    server_ended,
    one_worker_frozen,
    rarely_asked,
    server_hung,
    server_first,
    rolling,
)
