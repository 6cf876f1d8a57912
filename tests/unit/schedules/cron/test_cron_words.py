"""Expressions in words: what they mean, and silence where a phrase would be long or wrong."""

from __future__ import annotations

import pytest

from schedules.cron.notation.parse import parse
from schedules.cron.notation.words import in_words


@pytest.mark.parametrize(
    ("dialect", "expression", "words"),
    [
        ("cron", "30 2 * * *", "at 02:30, every day"),
        ("cron", "0 8 * * 1-5", "at 08:00, on Monday to Friday"),
        ("cron", "0 8 * * 0,6", "at 08:00, on Saturday or Sunday"),
        ("cron", "*/15 * * * *", "every 15 minutes, every day"),
        ("cron", "* * * * *", "every minute, every day"),
        ("cron", "0 * * * *", "every hour, every day"),
        ("cron", "7,37 * * * *", "7 and 37 minutes past every hour, every day"),
        ("cron", "*/10 9-17 * * MON-FRI", "every 10 minutes from 09:00 to 17:59, on Monday to Friday"),
        ("cron", "0 0 13 * 5", "at 00:00, on day 13 of the month or on Friday"),
        ("temporal", "0 0 13 * 5", "at 00:00, on day 13 of the month if it is Friday"),
        ("cron", "0 0 1,15 * *", "at 00:00, on days 1 and 15 of the month"),
        ("cron", "0 0 1-7 * *", "at 00:00, on days 1 to 7 of the month"),
        ("cron", "0 6,18 1 1,7 *", "at 06:00 and 18:00, on day 1 of the month in January and July"),
        ("cron", "0 0 L * *", "at 00:00, on the last day of the month"),
        ("cron", "0 0 L-1 * *", "at 00:00, on the last day but one of the month"),
        ("cron", "0 0 L-3 * *", "at 00:00, on the day 3 days before the last of the month"),
        ("cron", "0 9 15W * *", "at 09:00, on the Monday to Friday nearest to day 15 of the month"),
        ("cron", "0 9 LW * *", "at 09:00, on the last Monday to Friday of the month"),
        ("cron", "0 0 * * 5#1", "at 00:00, on the first Friday of the month"),
        ("cron", "0 0 * * 5L", "at 00:00, on the last Friday of the month"),
        ("quartz", "0 0 12 ? * 6#3 2027-2028", "at 12:00, on the third Friday of the month, in 2027 and 2028"),
        ("quartz", "30 0 12 ? * 2", "at 12:00:30, on Monday"),
        ("cron", "@every 90m", "every 90 minutes, counted from 1970-01-01T00:00Z"),
        ("eventbridge", "rate(1 day)", "every day, counted from 1970-01-01T00:00Z"),
        ("eventbridge", "at(2027-03-01T09:00:00)", "once, at 2027-03-01T09:00:00"),
    ],
)
def test_an_expression_is_told_as_it_is_meant(dialect: str, expression: str, words: str) -> None:
    assert in_words(parse(expression, dialect)) == words


@pytest.mark.parametrize("expression", ["17 3 1,L * *", "*/7 * * * *", "0 0 30 2 *", "1-50 * * * *", "0 0 */2 * 1"])
def test_what_has_no_short_phrase_is_left_out(expression: str) -> None:
    assert not in_words(parse(expression))
