"""Jobs written in Python: `python -m schedules lint examples.dynamic:jobs`."""

from datetime import timedelta

from schedules.project import JobSet
from schedules.spec import CronEntry, HttpSpec, JobSpec, RunSpec

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
