"""What is refused, and that the message names the field, the value, what is allowed and what was probably meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedules.cron import CronError, compile_cron

START = datetime(2027, 2, 28, tzinfo=UTC)


def refusal(text: str, dialect: str = "cron", timezone: str = "UTC") -> CronError:
    with pytest.raises(CronError) as caught:
        compile_cron(
            text, timezone=timezone, dialect=dialect, horizon_start=START, horizon_end=datetime(2030, 1, 1, tzinfo=UTC)
        )
    return caught.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("60 * * * *", "minute: 60 is out of range; allowed: 0-59; did you mean 0?"),
        ("0 24 * * *", "hour: 24 is out of range; allowed: 0-23; did you mean 0?"),
        ("0 0 0 * *", "day-of-month: 0 is out of range; allowed: 1-31; did you mean 1?"),
        ("0 0 * 13 *", "month: 13 is out of range; allowed: 1-12 or JAN-DEC; did you mean 1?"),
        ("0 0 * * 8", "day-of-week: 8 is out of range; allowed: 0-7 or SUN-SAT"),
        ("0/5 * * * *", "minute: 0/5 has a step without a range; allowed: 0-59; write 0-59/5"),
        ("*/0 * * * *", "minute: '*/0' has the step '0'; allowed: a step is a whole number from 1 on"),
        ("5-5/0 * * * *", "minute: '5-5/0' has the step '0'; allowed: a step is a whole number from 1 on"),
        ("1,,2 * * * *", "minute: an empty item; allowed: 0-59; remove the comma that is too many"),
        ("0 0 * * MONDAY", "day-of-week: 'MONDAY' is not a value; allowed: 0-7 or SUN-SAT; did you mean MON?"),
        ("0 0 * * tus", "day-of-week: 'tus' is not a value; allowed: 0-7 or SUN-SAT; did you mean TUE?"),
        ("0 0 * jnu *", "month: 'jnu' is not a value; allowed: 1-12 or JAN-DEC; did you mean JUN?"),
        ("0 0 L-31 * *", "day-of-month: L-31 lies before the first day; allowed: 1-31; L-30 is the largest distance"),
        ("0 0 32W * *", "day-of-month: 32 is out of range; allowed: 1-31"),
        (
            "0 0 * * 1#6",
            "day-of-week: '1#6' has no week number; allowed: 0-7 or SUN-SAT; after # stands a number from 1 to 5",
        ),
        (
            "0 0 * * L",
            "day-of-week: L stands alone; allowed: 0-7 or SUN-SAT; write 5L for the last Friday, or put L into day-of-month",
        ),
        ("H(5-2) * * * *", "minute: 'H(5-2)' begins after its end; allowed: 0-59; write H(5-59) or H(0-2)"),
        ("0 H(22-2) * * *", "hour: 'H(22-2)' begins after its end; allowed: 0-23; write H(22-23) or H(0-2)"),
        ("55~5 * * * *", "minute: '55~5' begins after its end; allowed: 0-59; write 55~59 or 0~5"),
        (
            "H(0-x) * * * *",
            "minute: 'H(0-x)' is no hashed value; allowed: 0-59; write H, H(0-29), H/15, H(0-29)/10 or 0~29",
        ),
        (
            "@every 5",
            "every: '5' is no distance; allowed: a whole number of seconds from 1s on, as in 30s, 5m, 1h30m, 1d; did you mean 5s?",
        ),
        (
            "@every 500ms",
            "every: '500ms' is no distance; allowed: a whole number of seconds from 1s on, as in 30s, 5m, 1h30m, 1d",
        ),
        ("* * * *", "4 fields in dialect cron; allowed: 5 fields (minute hour day-of-month month day-of-week)"),
        ("", "the expression is empty; allowed: 5 fields (minute hour day-of-month month day-of-week)"),
        ("TZ=Mars/Base 0 0 * * *", "timezone: 'Mars/Base' is no time zone; write a name such as Europe/Berlin or UTC"),
        ("CRON_TZ= 0 0 * * *", "timezone: the timezone is missing"),
    ],
)
def test_the_message_says_what_to_write_instead(text: str, message: str) -> None:
    assert str(refusal(text)) == message


def test_an_error_carries_its_parts_and_its_place() -> None:
    error = refusal("0 0 1,2,45 * *")
    assert (error.field, error.value, error.allowed, error.position) == ("day-of-month", "45", "1-31", 8)


@pytest.mark.parametrize(
    ("text", "dialect", "message"),
    [
        ("0 0 12 * * *", "quartz", "in quartz exactly one of the two is `?`"),
        ("0 0 12 ? * ?", "quartz", "both day fields are `?`"),
        ("cron(* 1 * * * *)", "eventbridge", "in eventbridge exactly one of the two is `?`"),
        ("rate(1 days)", "eventbridge", r"write rate\(1 day\)"),
        ("rate(5 minute)", "eventbridge", r"write rate\(5 minutes\)"),
        ("rate(0 minutes)", "eventbridge", "a whole number"),
        ("rate(five minutes)", "eventbridge", "a whole number"),
        ("at(2027-13-01T00:00:00)", "eventbridge", "as in 2027-03-01T09:00:00"),
        ("daily", "eventbridge", "no schedule of EventBridge"),
        ("0 0 * * 7", "kubernetes", "Sunday is 0 in this dialect"),
        ("0 22-2 * * *", "kubernetes", "write 22-23,0-2"),
        ("0 0 L * *", "kubernetes", "'L' is not a value"),
        ("H * * * *", "kubernetes", "'H' is not a value"),
        ("? * * * *", "cron", r"'\?' is not a value"),
        ("0 8 * * 1#1", "temporal", "takes # for the start of a comment"),
        ("0 0 ? * 1", "temporal", r"'\?' is not a value"),
        ("CRON_TZ=UTC 0 0 12 * * ?", "spring", "has no place in dialect spring"),
        ("0 0 * * 7", "celery", "Sunday is 0 in this dialect"),
        ("crontab(minute=0, day=1)", "celery", "'day' is no argument"),
        ("crontab(0, 0, 1)", "celery", "name the arguments"),
        ("crontab(minute=[0])", "celery", "is a list; write it as text, minute='0'"),
        ("crontab(hour=[3, 5])", "celery", "write it as text, hour='3,5'"),
        ("crontab(minute={0})", "celery", "no number and no text"),
        ("crontab(0)(hour=3)", "celery", r"does not end as a call does; write crontab\(minute=0, hour=3\)"),
        ("crontab(0, minute=5)", "celery", "minute is given twice"),
        ("crontab(**{'hour': 3})", "celery", r"'\*\*' is no argument"),
        ("crontab(*[3])", "celery", "no number and no text"),
        ("0 0 * * *", "vixie", "'vixie' is no dialect; allowed: cron, quartz"),
        ("@daily", "quartz", r"is no name in dialect quartz; write 0 0 0 \* \* \?$"),
        ("@weekly", "quartz", r"write 0 0 0 \? \* 1$"),  # Sunday
        ("@daily", "celery", r"write 0 0 \* \* \*$"),
        ("@Daily", "temporal", "allowed: @yearly.*; write @daily$"),
        ("@Daily", "kubernetes", "write @daily$"),
        ("@Every 5m", "kubernetes", "is no name"),
        ("@every 1d", "kubernetes", "'1d' is no distance; .*write 24h"),  # Go's ParseDuration knows no d
        ("@every 1h/5m", "kubernetes", "'1h/5m' has an offset.*leave it out"),
    ],
)
def test_a_dialect_refuses_what_it_does_not_know(text: str, dialect: str, message: str) -> None:
    with pytest.raises(CronError, match=message):
        raise refusal(text, dialect)


def test_six_fields_without_a_dialect_show_both_readings_with_their_next_times() -> None:
    message = str(refusal("0 5 9 * * *"))
    assert "dialect spring (seconds first: next at 2027-02-28T09:05:00Z)" in message
    assert "quartz" not in message  # it refuses two day fields
    assert "dialect temporal (year last: next at 2027-03-09T05:00:00Z)" in message


def test_six_fields_that_cannot_end_in_a_year_show_no_such_reading() -> None:
    """2 is Monday in Quartz and Tuesday in Spring; 1 March 2027 is a Monday."""
    message = str(refusal("0 0 12 ? * 2"))
    assert "dialect quartz (seconds first: next at 2027-03-01T12:00:00Z)" in message
    assert "dialect spring (seconds first: next at 2027-03-02T12:00:00Z)" in message
    assert "temporal" not in message


def test_six_fields_of_kubernetes_show_other_readings_too() -> None:
    message = str(refusal("0 0 12 * * ?", "kubernetes"))
    assert "dialect quartz or spring (seconds first: next at 2027-02-28T12:00:00Z)" in message
    assert "user name" not in message


def test_a_user_column_is_recognized() -> None:
    assert "user name" in str(refusal("17 * * * * root"))


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("0 0 * * sUn", "cron"),
        ("0 0 * jan-Mar *", "cron"),
        ("0 0 ? * 5", "cron"),
        ("0 0 l * *", "cron"),
        ("0 0 * * 0-7", "cron"),
        ("*/60 * * * *", "cron"),
        ("05 09 01 * *", "cron"),
        ("0000005 */0000002 * * *", "cron"),
        ("0 0 1-5,L,15W * 1#2,5L", "cron"),
        ("0/15 ? ? * *", "kubernetes"),
        ("0 0 0 L-3W * ?", "quartz"),
        ("0 0 0 ? * L", "quartz"),
        ("0 /15 * * * ?", "quartz"),
        ("@daily", "spring"),
        ("0 0 0 ? * 7-2", "spring"),
        ("0 0 * * tues  # weekly", "temporal"),
        ("0 0 1 janua * 2027", "temporal"),
        ("crontab(minute='*/15', hour='8-17', day_of_week='mon-fri')", "celery"),
        ("crontab(0, 4)", "celery"),
        ("0 0 * * friday", "celery"),
    ],
)
def test_what_people_write_is_accepted(text: str, dialect: str) -> None:
    made = compile_cron(
        text, timezone="UTC", dialect=dialect, horizon_start=START, horizon_end=datetime(2030, 1, 1, tzinfo=UTC)
    )
    assert made.calendars
