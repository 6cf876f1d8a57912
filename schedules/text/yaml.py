"""Data as YAML that every reader takes alike: any text that might be read as something else stands in double quotes."""

from __future__ import annotations

import re
from typing import Any

import yaml

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*")
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan"})
WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Quotes all but plain words."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    plain = PLAIN.fullmatch(value) and value.casefold() not in WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


_Dumper.add_representer(str, _text)


def yaml_text(data: Any) -> str:
    """JSON values as a block of YAML, keys in the order given."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)
