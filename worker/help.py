"""The help of `tickwright worker`, with all its settings."""

from __future__ import annotations

from schedules.console.help import LinesFormatter
from worker.process.loading import light_loading

EPILOG = """\
settings, from the environment or the same in lower case in tickwright.toml:
{settings}

The connection is that of the temporal CLI: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, profiles.
Secrets for ${{secret:NAME}}: TICKWRIGHT_SECRET_NAME, or a file NAME in TICKWRIGHT_SECRETS_DIR."""


class SettingsFormatter(LinesFormatter):
    """Loads the settings for whoever asks for help, and for nobody else."""

    def add_text(self, text: str | None) -> None:
        """Called by argparse for the description and the epilog."""
        if text == EPILOG:
            with light_loading():
                from worker.settings import settings_help

            text = text.format(settings=settings_help())
        super().add_text(text)
