"""Pages of the board in a real Chromium."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # the package has no types
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page

ColorScheme = Literal["light", "dark"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
expect.set_options(timeout=30_000)  # A page that tells a story asks a server, which others may keep busy.
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH (Debian's package: chromium)")


class Opened(Protocol):
    """Opens an address."""

    def __call__(self, url: str, scheme: ColorScheme = "light", width: int = 1280, height: int = 800) -> Page:
        """The page, once the board is drawn."""


@contextmanager
def browser() -> Iterator[Browser]:
    """Without a window."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def opening(chromium: Browser, password: str = "") -> Iterator[Opened]:
    """Opens addresses in pages that fail the test if they say anything on their consoles but that there is no answer."""
    said: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(url: str, scheme: ColorScheme = "light", width: int = 1280, height: int = 800) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            timezone_id="Europe/Berlin",
            http_credentials={"username": "anyone", "password": password},
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(url)
        page.wait_for_selector("html[data-drawn]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [line for line in said if "status of 50" not in line and "ERR_CONNECTION_REFUSED" not in line] == []


def violations(page: Page) -> list[str]:
    """What axe has against the page as it is now."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits from outside: what Playwright evaluates in the page again and again, the page's policy forbids."""
    for _ in range(400):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it never came to hold")


def box_of(target: Locator) -> FloatRect:
    """Where it is on the screen."""
    box = target.bounding_box()
    assert box, "it is not visible"
    return box


def cursor(page: Page) -> Locator:
    """The mark that the keyboard is at."""
    return page.locator(".mark[tabindex='0']")
