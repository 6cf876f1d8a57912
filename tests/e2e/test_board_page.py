"""The page of the board in a real Chromium, of jobs and looks that the test chooses."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.background import in_background
from tests.board_browser import NEEDS_CHROMIUM, Opened, box_of, browser, cursor, opening, violations
from tests.board_painted import JOBS, LONG, Painted, served
from tests.servers import free_port

pytestmark = [NEEDS_CHROMIUM, pytest.mark.timeout(120)]
ALL = len(JOBS)
BERLIN = ZoneInfo("Europe/Berlin")
FIRST_DRAWN = """(node, kind) => {
    const path = node.querySelector(`path.${kind}`), box = path.getBBox(), ctm = path.getScreenCTM();
    const ends = [...path.getAttribute("d").matchAll(/M([\\d.]+)[^M]*/g)].map((found) => Number(found[1]));
    return { first: ends[0] * ctm.a + ctm.e, last: ends.at(-1) * ctm.a + ctm.e, right: (box.x + box.width) * ctm.a + ctm.e };
}"""
"""Where the subpaths of a kind are on the screen: the left ends of the first and the last, and the right end of all."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Opened]:
    with opening(chromium) as opened:
        yield opened


@pytest.fixture
def board() -> Iterator[Painted]:
    with in_background(served()) as made:
        made.look(datetime.now(UTC))
        yield made


def line(page: Page, name: str) -> Locator:
    return page.locator(".row", has=page.get_by_text(name, exact=True)).locator(".line")


def now_at(page: Page) -> float:
    """The middle of the line that says now, in pixels of the screen."""
    return float(page.locator(".rule.now").evaluate("node => node.getBoundingClientRect().x + 1"))


@pytest.mark.parametrize("width", [390, 800, 1280, 2560])
def test_a_mark_is_drawn_at_its_time_and_a_click_there_is_on_it(board: Painted, open_page: Opened, width: int) -> None:
    page = open_page(f"{board.url}#sort=name&zone=UTC", "light", width)
    drawn = line(page, "daily").evaluate(FIRST_DRAWN, "next")
    begin = datetime.now(BERLIN)
    due = begin.replace(hour=3, minute=7, second=0, microsecond=0, fold=0)
    due += timedelta(days=due <= begin)
    ahead = due.astimezone(UTC) - begin.astimezone(UTC)  # not by the clock on the wall, which may change before
    true = now_at(page) + ahead / timedelta(days=1) * box_of(line(page, "daily"))["width"] / 2
    assert drawn["first"] + 0.75 == pytest.approx(true, abs=1)

    last = line(page, LONG).evaluate(FIRST_DRAWN, "next")
    page.mouse.click(last["last"] + 0.75, box_of(line(page, LONG))["y"] + 12)
    end = datetime.now(UTC) + timedelta(days=1)
    hour = end.replace(minute=7) if end.minute >= 7 else end.replace(minute=7) - timedelta(hours=1)
    expect(page.locator("#panel h3")).to_contain_text(f"{hour:%H}:07")


def test_in_the_running_quarter_what_was_is_left_of_now_and_what_comes_right_of_it(
    board: Painted, open_page: Opened
) -> None:
    page = open_page(f"{board.url}#span=2&sort=name")
    now = now_at(page)
    assert line(page, "broken").evaluate(FIRST_DRAWN, "failed")["right"] <= now + 8
    for name in ("beat", "broken", "steps"):
        ahead = line(page, name).evaluate(FIRST_DRAWN, "next")
        assert ahead["first"] == pytest.approx(now, abs=4)  # a minute is 3 pixels wide
    past = line(page, "beat").evaluate(FIRST_DRAWN, "succeeded")
    assert past["right"] <= now + 4
    starts = page.locator("#starts path").evaluate("node => node.getBoundingClientRect().x")
    assert starts == pytest.approx(now, abs=2)


def test_the_times_to_come_of_a_paused_job_have_no_bar_that_looks_like_success(
    board: Painted, open_page: Opened
) -> None:
    page = open_page(f"{board.url}#span=2&sort=name")
    now = now_at(page)
    assert line(page, "held").evaluate(FIRST_DRAWN, "paused")["last"] > now
    assert line(page, "held").evaluate(FIRST_DRAWN, "many")["right"] <= now + 3
    red, green, blue = _rgb(line(page, "held").locator("path.many"))
    assert red <= green <= blue


def _rgb(path: Locator) -> tuple[int, int, int]:
    red, green, blue = re.findall(r"\d+", str(path.evaluate("node => getComputedStyle(node).fill")))
    return int(red), int(green), int(blue)


def test_after_a_restart_of_the_board_the_page_says_that_its_data_is_old_until_it_has_new(open_page: Opened) -> None:
    port, second = free_port(), timedelta(seconds=1)
    with in_background(served(port, second)) as before:
        before.look(datetime.now(UTC) - timedelta(seconds=2))
        page = open_page(before.url)
        expect(page.locator("#stale")).to_be_hidden()
    with in_background(served(port, second)) as after:
        expect(page.locator("#stale")).to_contain_text("the board was started again")
        expect(page.locator("#stale")).to_contain_text("Last looked")
        expect(page.locator("#age")).to_contain_text("looked")
        expect(page.locator(".row")).to_have_count(ALL)
        assert page.evaluate("document.body.className") == "old"
        after.latest.fail("Temporal does not answer")
        expect(page.locator("#stale")).to_contain_text("Temporal does not answer")
        expect(page.locator("#stale")).to_contain_text("Last looked")
        after.look(datetime.now(UTC))
        expect(page.locator("#stale")).to_be_hidden()
        page.context.close()


@pytest.mark.parametrize(
    "chosen",
    [
        {"sort": "__proto__", "span": "abc", "zone": "__proto__", "show": "__proto__"},
        {"sort": "constructor", "span": "0", "zone": "Mars/Base", "show": "toString"},
        {"sort": "", "span": "-5", "zone": "\x00", "show": "next"},
        {"sort": "NAME", "span": "100000", "zone": "x" * 5000, "show": ",,"},
        {"sort": "trouble,name", "span": "24.5", "zone": "UTC;", "show": "nothing,more"},
    ],
)
def test_choices_that_the_page_does_not_have_are_as_if_not_made(
    board: Painted, open_page: Opened, chosen: dict[str, str]
) -> None:
    begun = time.monotonic()
    page = open_page(f"{board.url}#{urlencode(chosen)}")
    for _ in range(2):
        expect(page.locator("#shown")).to_have_text(f"{ALL} jobs")
        expect(page.locator("#sort")).to_have_value("trouble")
        expect(page.locator("#span")).to_have_value("24")
        expect(page.locator("#zone")).to_have_value("Europe/Berlin")
        assert 4 < page.locator("#axis .hour").count() < 24
        page.evaluate("location.hash = ''")
        page.evaluate("hash => { location.hash = hash }", urlencode(chosen))
    assert time.monotonic() - begun < 60


def test_a_zone_of_an_address_is_offered_whenever_it_comes(board: Painted, open_page: Opened) -> None:
    page = open_page(board.url)
    page.evaluate("location.hash = 'zone=Asia/Tokyo'")
    expect(page.locator("#zone")).to_have_value("Asia/Tokyo")


def test_a_filter_of_many_stars_is_answered_at_once(board: Painted, open_page: Opened) -> None:
    page = open_page(f"{board.url}#{urlencode({'q': '*' * 30 + 'x'})}")
    expect(page.locator("#shown")).to_have_text(f"0 of {ALL} jobs")
    begun = time.monotonic()
    page.fill("#filter", "*e" * 30 + "*x")
    expect(page.locator("#shown")).to_have_text(f"0 of {ALL} jobs")
    page.fill("#filter", "*".join(["", *LONG, ""]))
    expect(page.locator("#shown")).to_have_text(f"1 of {ALL} jobs")
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "glob", ["b*", "?EAT", "*e*t", "beat*", "*d", "????", "e*", "*t*s", "**", "s*e*s", "s*z*s", "*-?o"]
)
def test_globs_are_those_of_file_names(board: Painted, open_page: Opened, glob: str) -> None:
    page = open_page(f"{board.url}#{urlencode({'q': glob})}")
    found = {name for name in JOBS if fnmatchcase(name, glob.lower())}
    assert {row.inner_text() for row in page.locator(".row .name").all()} == found


def test_what_comes_next_is_true_also_long_after_the_look(board: Painted, open_page: Opened) -> None:
    board.look(datetime.now(UTC) - timedelta(seconds=25))
    page = open_page(f"{board.url}#sort=name")
    expect(page.locator("#next")).to_have_text(re.compile(r"^next (within|in) [0-5] s: (steps|beat|broken)$"))
    row = page.locator(".row", has=page.get_by_text("steps", exact=True))
    expect(row.locator(".about")).to_have_text(re.compile("^next within [0-5] s$"))
    row.locator(".mark").click()
    expect(page.locator("#panel dl")).to_contain_text(re.compile("within [0-5] s"))
    page.keyboard.press("Escape")

    board.look(datetime.now(UTC) - timedelta(hours=27))
    page = open_page(f"{board.url}#q=daily")
    expect(page.locator(".row")).not_to_contain_text("next")
    expect(page.locator("#next")).to_have_text("")


def test_an_open_panel_follows_the_looks_and_says_how_old_it_is(open_page: Opened) -> None:
    with in_background(served(interval=timedelta(seconds=1))) as board:
        board.look(datetime.now(UTC))
        page = open_page(f"{board.url}#sort=name")
        panel = page.locator("#panel")
        line(page, "broken").locator(".mark").click()
        expect(panel.locator(".told")).to_contain_text("Told")
        expect(panel.locator(".told")).to_contain_text(re.compile(r"Told [2-9] s ago\."))
        with page.expect_response(re.compile("/occurrences|/story")):
            panel.get_by_role("button", name="Ask again").click()
        expect(panel.locator(".told")).to_contain_text(re.compile(r"Told (just now|0 s ago|1 s ago)\."))
        expect(panel.locator("h3")).to_be_focused()
        assert violations(page) == []
        board.look(datetime.now(UTC), "broken")
        expect(panel).to_contain_text("At the last look this job was gone")
        expect(panel.get_by_text("next", exact=True)).to_be_hidden()
        page.keyboard.press("Escape")
        expect(cursor(page)).to_be_focused()
        page.context.close()


def test_the_focus_is_on_something_after_the_panel_of_the_only_job_shown_that_is_gone(open_page: Opened) -> None:
    with in_background(served(interval=timedelta(seconds=1))) as board:
        board.look(datetime.now(UTC))
        page = open_page(f"{board.url}#q=broken")
        page.locator(".mark").click()
        expect(page.locator("#panel h2")).to_be_focused()
        board.look(datetime.now(UTC), "broken")
        expect(page.locator("#empty")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#filter")).to_be_focused()
        page.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_name_does_not_push_out_the_state(board: Painted, open_page: Opened, width: int) -> None:
    page = open_page(f"{board.url}#q=the-name", "light", width)
    head = page.locator(".row .job")
    state = page.locator(".row .job").get_by_text("failing")
    inner, outer = box_of(state), box_of(head)
    unhindered = """(state) => {
        const alone = state.cloneNode(true);
        alone.style.position = "absolute";
        state.parentNode.append(alone);
        const { width } = alone.getBoundingClientRect();
        alone.remove();
        return width;
    }"""
    assert inner["width"] == pytest.approx(state.evaluate(unhindered), abs=0.6)
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1


@pytest.mark.parametrize("span", ["24", "12", "6", "2"])
def test_no_label_of_the_axis_is_cut_or_covers_another(board: Painted, open_page: Opened, span: str) -> None:
    page = open_page(f"{board.url}#span={span}&zone=UTC")
    cut = """async ([begin, span, wider]) => {
        const { drawAxis } = await import("./axis.js"), axis = document.getElementById("axis"), faults = [];
        axis.style.letterSpacing = wider;
        const width = axis.clientWidth, rate = width / (2 * span * 3600);
        for (let place = 0; place < 96; place++) {
            const from = begin + place * 900, now = from + span * 3600;
            const scale = { begin: from, end: from + 2 * span * 3600, now, rate, width, zone: "UTC", x: (at) => (at - from) * rate };
            drawAxis(axis, document.createElement("div"), scale, { looked_at: now, counted_from: from, interval: 30 });
            const boxes = [...axis.children].map((each) => each.getBoundingClientRect()).sort((a, b) => a.x - b.x);
            const { left, right } = axis.getBoundingClientRect();
            boxes.forEach((box, at) => {
                if (box.left < left - 0.6 || box.right > right + 0.6) faults.push(`cut at ${place}`);
                if (at && box.left < boxes[at - 1].right - 0.6) faults.push(`over another at ${place}`);
            });
        }
        return faults;
    }"""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    for wider in ("-1px", "0", "4px"):  # as other fonts are
        assert page.evaluate(cut, [midnight, int(span), wider]) == []


def test_it_says_of_which_hours_the_counts_are_and_why_no_label_fits(board: Painted, open_page: Opened) -> None:
    page = open_page(f"{board.url}#span=2&q=team%3Dx")
    expect(page.locator("#empty")).to_have_text(re.compile("No job matches. No labels are known.*PATHs"))
    page.fill("#filter", "")
    expect(page.get_by_text("Last 24 h", exact=True)).to_be_visible()
    expect(page.locator("#covered")).to_have_text("Last and next 2 hours")
