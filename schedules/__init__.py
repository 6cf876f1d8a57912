"""Jobs as data, and the commands that apply, look at and operate them."""

import sys

if sys.argv[:1] == ["-m"]:  # `python -m schedules…` is on its way, and looks into the current folder first.
    from schedules.shadow import refuse_shadows

    refuse_shadows()
