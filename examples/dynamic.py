"""Jobs written in Python: `tickwright lint examples.dynamic:jobs`."""

from datetime import timedelta

from schedules.spec import CronEntry, HttpSpec, RunSpec
from tickwright import JobSet, JobSpec

REGIONS = ("eu", "us")

jobs = JobSet(
    project="reports",
    jobs=[
        JobSpec(
            name=f"daily-report-{region}",
            schedule=(CronEntry(cron="0 6 * * *"),),
            timezone="UTC",
            timeout=timedelta(minutes=10),
            run=RunSpec(http=HttpSpec(url=f"https://reports.internal/{region}")),
        )
        for region in REGIONS
    ],
)
