"""The board in a real Chromium, on a real server with 200 jobs and a day of mixed outcomes behind them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, expect
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from tests.background import in_background
from tests.board import OWNED_BY, OWNER, QUEUE, Sample, counted, sample_day, start
from tests.board_browser import NEEDS_CHROMIUM, ColorScheme, Opened, box_of, browser, cursor, opening, until, violations
from tests.processes import started
from tests.servers import HOST, DevServer, dev_server, free_port

pytestmark = [NEEDS_CHROMIUM, pytest.mark.timeout(400)]
HOSTILE = (
    '<img src=x onerror="document.title=1"><script>document.title=2</script>',
    "quotes \" ' ` and \\ and ${x}",
    "two\nlines\tand \x1b[31m",
    "emoji 🎉 \u202eright to left\u202c العربية",
    "n" * 900,
)
NOT_SYNCED = 'version: 1\nproject: shop\ndefaults: {timezone: UTC, timeout: 5m}\njobs:\n  not-synced: {schedule: "0 8 * * *", run: {command: ["true"]}}\n'
UI, TOKEN = "https://temporal.test", "sesame"


@dataclass(frozen=True)
class Scene:
    """`url` is the board of the spec files, `every` that of all jobs of the owner, the hostile ones too, which asks for a token."""

    url: str
    every: str
    jobs: list[Sample]


@asynccontextmanager
async def board(server: DevServer, *words: str | Path, token: str = "") -> AsyncIterator[str]:
    """Its URL once it serves; each has a port of its own."""
    env = {**server.environ, **({"TICKWRIGHT_HTTP_TOKEN": token} if token else {})}
    options = ("--interval", "1s", "--rate", "100", "--address", f"{HOST}:0", "--ui", UI)
    async with started("schedules", "board", *words, *options, env=env) as running:
        line: str = await running.until(
            lambda: next((each for each in running.err if "board is at" in each), ""), "no URL"
        )
        yield line.rsplit(maxsplit=1)[-1]


@asynccontextmanager
async def staged(server: DevServer, folder: Path) -> AsyncIterator[Scene]:
    client = await Client.connect(server.address)
    async with sample_day(client, folder, 200) as jobs:
        for name in HOSTILE:
            await add_hostile(client, name)
        shown = folder / "shown"
        shown.mkdir()
        (shown / "jobs.yaml").write_text((folder / "jobs.yaml").read_text())
        (shown / "more.yaml").write_text(NOT_SYNCED)
        async with board(server, shown) as url, board(server, "--owner", OWNED_BY, token=TOKEN) as every:
            yield Scene(url, every, jobs)


async def add_hostile(client: Client, name: str) -> None:
    """A paused schedule with a note that is as bad as its name, and a run of the hour before."""
    action = ScheduleActionStartWorkflow("JobWorkflow", id=name[:100], task_queue=QUEUE)
    await client.create_schedule(
        name,
        Schedule(
            action=action,
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(hours=1))]),
            state=ScheduleState(paused=True, note=name),
        ),
        search_attributes=TypedSearchAttributes([SearchAttributePair(OWNER, OWNED_BY)]),
    )
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    await start(client, [(name, hour)], OWNED_BY)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with dev_server() as server, in_background(staged(server, tmp_path_factory.mktemp("board"))) as made:
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started_one:
        yield started_one


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Opened]:
    with opening(chromium, TOKEN) as opened:
        yield opened


def counts_of(page: Page) -> dict[str, int]:
    """By kind, what the buttons at the top say."""
    buttons = page.locator("#kinds button").all()
    return {
        str(button.get_attribute("data-kind")): int(button.locator("b").inner_text().replace(",", ""))
        for button in buttons
    }


def test_it_counts_what_there_is(scene: Scene, open_page: Opened) -> None:
    page = open_page(f"{scene.url}#q=counted%3Dyes")
    expect(page.locator("#shown")).to_have_text("200 of 204 jobs")
    at = datetime.fromtimestamp(float(str(page.locator("html").get_attribute("data-drawn"))), UTC)
    assert counts_of(page) == counted(scene.jobs, at)


def test_what_goes_wrong_stands_first_and_each_mark_is_where_its_time_is(scene: Scene, open_page: Opened) -> None:
    page = open_page(scene.url)
    states = page.locator(".row").evaluate_all("rows => rows.map(row => row.dataset.state)")
    assert states[0] == "missing"
    assert states[1] == "failing"
    expect(page.locator(".row").first).to_contain_text("not-synced")
    for name, kind in {"warehouse-load": "running", "orphan-feed": "waiting", "heartbeat": "succeeded"}.items():
        page.fill("#filter", name)
        expect(page.locator("#shown")).to_contain_text("1 of")
        assert kind in counts_of(page)
    hourly = next(job for job in scene.jobs if job.hours == 1 and not job.paused)
    page.fill("#filter", hourly.name)
    expect(page.locator("#shown")).to_contain_text(" of 204 jobs")
    page.locator("#sort").select_option("name")
    row = page.locator(".row", has=page.get_by_text(hourly.name, exact=True))
    row.locator(".mark").focus()
    page.keyboard.press("Home")
    first, width = (
        hourly.times(datetime.now(UTC) - timedelta(days=1), datetime.now(UTC))[0],
        box_of(row.locator(".line")),
    )
    mark = box_of(row.locator(".mark"))
    share = (first - (datetime.now(UTC) - timedelta(days=1))) / timedelta(days=2)
    assert mark["x"] + mark["width"] / 2 - width["x"] == pytest.approx(share * width["width"], abs=2)
    local = first.astimezone(ZoneInfo("Europe/Berlin"))  # as the browser
    assert re.search(rf" {local:%H:%M}; mark 1 of \d+$", str(row.locator(".mark").get_attribute("aria-label")))


def starts_ahead(jobs: Sequence[Sample], at: datetime) -> int:
    """Of these jobs and of the one of every minute, after `at` and before the first quarter of an hour that is a day away or more."""
    quarter = timedelta(minutes=15)
    end = at + timedelta(days=1) + (datetime.min.replace(tzinfo=UTC) - at) % quarter
    minute = at.replace(second=0, microsecond=0)
    every_minute = int((end - minute) / timedelta(minutes=1)) - 1
    return sum(len(job.times(at, end - timedelta(seconds=1))) for job in jobs if not job.paused) + every_minute


def test_the_times_to_come_are_counted_by_five_minutes(scene: Scene, open_page: Opened) -> None:
    opened = datetime.now(UTC)
    page = open_page(scene.url)
    told = int(re.sub(r" starts.*", "", page.locator(".starts").inner_text()).replace(",", ""))
    asked = int((datetime.now(UTC) - opened).total_seconds()) + 10  # the board may have looked seconds before
    assert told in {starts_ahead(scene.jobs, opened + timedelta(seconds=second)) for second in range(-10, asked)}


def test_a_click_and_a_key_tell_the_story_and_the_focus_comes_back(scene: Scene, open_page: Opened) -> None:
    page = open_page(scene.url)
    page.keyboard.press("Tab")
    for _ in range(20):
        if page.evaluate("document.activeElement.id") == "filter":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("counted=yes")
    until(page, lambda: "counted" in page.url)
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(cursor(page)).to_be_focused()
    assert "failed" in str(cursor(page).get_attribute("aria-label"))
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_be_focused()
    expect(panel).to_contain_text("failed: step `main`: failed")
    expect(panel.get_by_role("link")).to_have_attribute("href", re.compile(rf"^{UI}/namespaces/default/workflows/"))
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(cursor(page)).to_be_focused()

    page.fill("#filter", "heartbeat")
    line = page.locator(".row .line")
    box = box_of(line)
    page.mouse.click(box["x"] + box["width"] * 0.46, box["y"] + box["height"] / 2)
    listed = panel.locator(".occurrences button")
    expect(listed).to_have_count(15)
    assert violations(page) == []
    listed.first.click()
    expect(panel).to_contain_text("outcome")
    expect(panel).to_contain_text("yes, by the current schedule")
    panel.get_by_role("button", name="Close").click()
    expect(cursor(page)).to_be_focused()


def test_the_keyboard_reaches_every_job_though_few_are_drawn(scene: Scene, open_page: Opened) -> None:
    page = open_page(f"{scene.url}#sort=name")
    assert page.locator(".row").count() < 60
    assert page.locator("#grid").get_attribute("aria-rowcount") == "205"
    cursor(page).focus()
    page.keyboard.press("Control+End")
    expect(page.locator(".row:focus-within")).to_have_attribute("aria-rowindex", "205")
    expect(page.locator(".row:focus-within")).to_be_in_viewport()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("PageUp")
    expect(page.locator(".row:focus-within")).to_have_attribute("aria-rowindex", "194")
    page.keyboard.press("Control+Home")
    expect(page.locator(".row:focus-within")).to_have_attribute("aria-rowindex", "2")
    order = page.locator(".row").evaluate_all("rows => rows.map(row => Number(row.getAttribute('aria-rowindex')))")
    assert order == sorted(order)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_the_panel_closed_and_open(
    scene: Scene, open_page: Opened, scheme: ColorScheme, width: int
) -> None:
    page = open_page(scene.url, scheme, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 22, 28)"}[scheme]
    )
    assert violations(page) == []
    cursor(page).click()
    expect(page.locator("#panel")).to_be_visible()
    page.locator(".mark").nth(1).dispatch_event("click")
    expect(page.locator("#panel dl")).to_have_count(2)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_hostile_names_and_notes_are_text(scene: Scene, open_page: Opened) -> None:
    page = open_page(scene.every, "light", 390)
    page.evaluate("window.marked = true")
    for name in HOSTILE:
        word = max(re.findall(r"[^\s*?=]+", name), key=len)
        page.fill("#filter", word)
        row = page.locator(".row", has=page.locator(".name", has_text=word[:60])).first
        expect(row).to_be_visible()
        assert row.locator(".name").evaluate("node => node.textContent") == name
        row.locator(".mark").click()
        expect(page.locator("#panel h2")).to_be_visible()
        assert page.locator("#panel h2").evaluate("node => node.textContent") == name
        expect(page.locator("#panel .story dl, #panel .story .trouble")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.keyboard.press("Escape")
    assert page.locator("img, .row script, #panel script").count() == 0
    assert page.evaluate("window.marked")
    assert page.title().endswith("Board")


@pytest.mark.parametrize(
    ("begin", "end", "hours"),
    [("2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z", 23), ("2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z", 25)],
)
def test_the_axis_has_the_hours_of_days_of_clock_changes(
    scene: Scene, open_page: Opened, begin: str, end: str, hours: int
) -> None:
    """From midnight to midnight in Berlin, wide enough for each hour to have a line."""
    page = open_page(scene.url)
    asked = """async ([begin, end]) => (await import("./axis.js")).ticks({
        begin: Date.parse(begin) / 1000, end: Date.parse(end) / 1000, rate: 0.1, zone: "Europe/Berlin" }).map((tick) => tick.hour)"""
    found = page.evaluate(asked, [begin, end])
    assert len(found) == hours
    assert (found[:3], found[-1]) == (([0, 1, 3], 23) if hours == 23 else ([0, 1, 2], 23))


def test_the_view_is_in_the_address(scene: Scene, open_page: Opened) -> None:
    page = open_page(scene.url)
    page.fill("#filter", "invoice-* counted=yes")
    page.locator("#kinds").get_by_role("button", name="succeeded").click()
    page.locator("#zone").select_option("UTC")
    page.locator("#span").select_option("6")
    shown, address = page.locator("#shown").inner_text(), page.url
    assert not shown.startswith("204")
    again = open_page(address)
    expect(again.locator("#shown")).to_have_text(shown)
    expect(again.locator("#filter")).to_have_value("invoice-* counted=yes")
    expect(again.locator("#zone")).to_have_value("UTC")
    assert {row.inner_text().partition("-")[0] for row in again.locator(".row .name").all()} == {"invoice"}


def rests(page: Page) -> bool:
    """Whether it does not scroll any more."""
    before = page.evaluate("scrollY")
    page.wait_for_timeout(200)
    return bool(page.evaluate("scrollY") == before)


def test_it_renews_itself_and_leaves_scroll_focus_and_panel_alone(scene: Scene, open_page: Opened) -> None:
    page = open_page(f"{scene.url}#sort=name")
    cursor(page).focus()
    for _ in range(6):
        page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    expect(page.locator("#panel .story dl")).to_have_count(1)
    page.locator("#panel .close").focus()
    until(page, lambda: rests(page))
    title, drawn = page.locator("#panel h2").inner_text(), page.evaluate("document.documentElement.dataset.drawn")
    before = box_of(cursor(page))["y"]
    until(page, lambda: float(page.evaluate("document.documentElement.dataset.drawn")) > float(drawn) + 2)
    until(page, lambda: rests(page))
    assert box_of(cursor(page))["y"] == pytest.approx(before, abs=1)  # `scrollY` follows what comes and goes above
    assert page.locator("#panel h2").inner_text() == title
    expect(page.locator("#panel .close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cursor(page)).to_be_focused()


def test_it_says_so_when_temporal_is_away_and_when_the_board_is(open_page: Opened, tmp_path: Path) -> None:
    with dev_server(port=free_port()) as server, in_background(small(server, tmp_path)) as url:
        page = open_page(url)
        expect(page.locator("#stale")).to_be_hidden()
        expect(page.locator("#shown")).to_have_text("5 jobs")
        server.kill()
        cursor(page).click()
        stale = page.locator("#stale")
        expect(stale).to_contain_text("Last looked", timeout=60_000)
        expect(stale).to_contain_text("What has happened since is not shown")
        expect(page.locator(".row")).to_have_count(5)
        assert violations(page) == []
        expect(page.locator("#panel")).to_contain_text("There is no answer")
        page.context.close()


@asynccontextmanager
async def small(server: DevServer, folder: Path) -> AsyncIterator[str]:
    client = await Client.connect(server.address)
    async with sample_day(client, folder, 5, busy=False):
        pass
    async with board(server, "--owner", OWNED_BY) as url:
        yield url
