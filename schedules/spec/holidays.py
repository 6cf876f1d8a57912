"""Public and market holidays, from the package `holidays`: a new release of it may change dates, and then schedules.

It knows the rules of each place, the days on which a holiday on a weekend is observed instead included: where the law moves
4 July to Monday 5 July, both are in the set.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from schedules.text.nearest import nearest, suggestion
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date


def check_country(code: str) -> str:
    """The code itself if the package knows its holidays. Raises ValueError with near misses."""
    if code not in _countries() and code not in _markets():
        known = sorted((*_countries(), *_markets()))
        close = nearest(code, known)
        advice = (
            f"did you mean {' or '.join(f'`{each}`' for each in close)}?" if close else "write for example US, GB or DE"
        )
        raise ValueError(f"{shown(code)} is no country or market with known holidays; {advice}")
    return code


def check_subdivision(country: str, code: str) -> str:
    """The code itself if the country has such a part. Raises ValueError with near misses."""
    known = _countries().get(country, _markets().get(country, ()))
    if code not in known:
        raise ValueError(f"{shown(code)} is no part of {country}; {suggestion(code, known, f'parts of {country}')}")
    return code


@lru_cache(maxsize=256)
def holiday_dates(country: str, subdivision: str | None, first_year: int, last_year: int) -> frozenset[date]:
    """The holidays in the years from first to last, by codes that have been checked."""
    from holidays import country_holidays, financial_holidays

    make = country_holidays if country in _countries() else financial_holidays
    years = range(first_year, last_year + 1)
    return frozenset(day for day in make(country, subdiv=subdivision, years=years) if day.year in years)


@lru_cache(maxsize=1)
def _countries() -> Mapping[str, Sequence[str]]:
    from holidays import list_supported_countries  # a tenth of a second, which only specs with holidays spend

    return list_supported_countries(include_aliases=True)


@lru_cache(maxsize=1)
def _markets() -> Mapping[str, Sequence[str]]:
    from holidays import list_supported_financial

    return list_supported_financial(include_aliases=True)
