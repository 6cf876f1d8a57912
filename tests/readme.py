"""The README and the pages under docs/ as their tests see them; `python -m tests.readme` renews the parts that are generated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from schedules.spec.reference import reference
from worker.settings import settings_help

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"(<!-- (?P<name>[\w ]+): begin -->\n).*?(<!-- (?P=name): end -->)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, and its text without the fences."""

    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A line after `$ ` in a `console` block, and the lines that are shown as its output."""

    line: str
    output: list[str]


def text() -> str:
    """All pages, the README first."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def section(title: str) -> str:
    """What stands under a heading of the second level, or a whole page of that title. Raises KeyError."""
    for page in PAGES:
        whole = "\n" + page.read_text(encoding="utf-8")
        if f"\n## {title}\n" in whole:
            return whole.split(f"\n## {title}\n")[1].split("\n## ")[0]
        if whole.startswith(f"\n# {title}\n"):
            return whole
    raise KeyError(title)


def anchors(page: Path) -> set[str]:
    """Where a link into the page may lead."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def links() -> list[tuple[Path, str]]:
    """Each page with each target of its links."""
    found = [(page, re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))) for page in PAGES]
    return [(page, target) for page, targets in found for target in sorted(set(targets))]


def blocks(markdown: str, *languages: str) -> list[Block]:
    """The fenced blocks in these languages, in order."""
    found = (Block(match[1], match[2]) for match in _BLOCK.finditer(markdown))
    return [block for block in found if block.language in languages]


def commands(block: Block) -> list[Command]:
    """The commands of a `console` block."""
    shown: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            shown.append(Command(line.removeprefix("$ "), []))
        else:
            shown[-1].output.append(line)
    return shown


def renewed(markdown: str) -> str:
    """The text with its generated parts as the code has them now."""
    parts = {"spec reference": f"\n{reference()}\n", "worker settings": f"\n```text\n{settings_help()}\n```\n\n"}
    return _PART.sub(lambda match: match[1] + parts[match["name"]] + match[3], markdown)


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(renewed(each.read_text(encoding="utf-8")), encoding="utf-8")
