"""Where whole outputs are put: a folder of the worker, or storage that speaks as S3 does."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from obstore.store import S3Store

FOLDER_MODE, FILE_MODE = 0o750, 0o640
NO_LIBRARY = "the library for S3 is not installed: install `tickwright[s3]`"
TRY_AGAIN_FOR = timedelta(seconds=20)
"""As long as this an upload that fails is tried again; a step waits for it."""


class Sink(Protocol):
    """Takes outputs that no secret is in. Blocks."""

    def put(self, place: PurePosixPath, lines: Iterable[bytes]) -> str:
        """Where the output is now: nobody sees half of it. Raises OSError with the reason."""


class Folder:
    """A folder of the worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, place: PurePosixPath, lines: Iterable[bytes]) -> str:
        """See Sink."""
        path = self._folder / place
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with NamedTemporaryFile("wb", dir=path.parent, prefix=".", delete=False) as made:
            try:
                made.writelines(lines)
                made.flush()
                Path(made.name).chmod(FILE_MODE)
                Path(made.name).replace(path)
            except OSError:
                Path(made.name).unlink(missing_ok=True)
                raise
        return str(path)


class S3:
    """A bucket, `s3://bucket/prefix`; endpoint, region and credentials are those of the environment (`AWS_…`)."""

    def __init__(self, url: str) -> None:
        """Raises ValueError for an address or an environment that cannot be used, or without the library."""
        self._url = url.rstrip("/")
        self._store = _store(self._url)

    def put(self, place: PurePosixPath, lines: Iterable[bytes]) -> str:
        """See Sink."""
        import obstore
        from obstore.exceptions import BaseError

        with TemporaryFile() as file:
            file.writelines(lines)
            file.seek(0)
            try:
                obstore.put(self._store, str(place), file)
            except (BaseError, OSError) as error:
                raise OSError(_reason(error)) from None  # Its whole text has requests and answers in it.
        return f"{self._url}/{place}"


def _store(url: str) -> S3Store:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ModuleNotFoundError:
        raise ValueError(NO_LIBRARY) from None
    try:
        return S3Store.from_url(url, retry_config={"max_retries": 3, "retry_timeout": TRY_AGAIN_FOR})
    except BaseError as error:
        raise ValueError(_reason(error)) from None


def _reason(error: Exception) -> str:
    """The kind of an error and, of an answer, its code: the rest may name keys of the account."""
    code = re.search(r"<Code>(\w+)</Code>", str(error))
    kind = code[1] if code else type(error).__name__.removesuffix("Error")
    return f"the storage said {kind}" if code else f"the storage cannot be used ({kind})"
