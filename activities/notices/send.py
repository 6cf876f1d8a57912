"""The activities that tell people and outside monitors: through the `apprise` library, a webhook, or a ping."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.errors import HandlerError
from activities.handlers.retry_after import seconds_to_wait
from activities.notices.contract import SEND_NOTICE, SEND_PING, Delivery, Ping
from activities.notices.current import as_posted
from activities.notices.text import document_of, run_url_of, text_of, title_of
from activities.steps.output import cut_end
from activities.steps.readable import readable_text
from activities.steps.redact import Redactor, use_redactor
from activities.steps.template import render

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp
    from yarl import URL

    from activities.notices.current import FindTarget
    from activities.steps.secrets import SecretStore

ANSWER_SECONDS = 20.0
PING_SECONDS = 5.0
NOT_DELIVERED = "not_delivered"
LONGEST_REASON = 10_000
LONGEST_ERROR = 300


class SendActivities:
    """`ui_url` is where people find Temporal's Web UI, empty for no links to runs."""

    def __init__(
        self,
        secrets: SecretStore,
        http_session: Callable[[], aiohttp.ClientSession],
        namespace: str,
        ui_url: str,
        find_target: FindTarget = as_posted,
    ) -> None:
        """`find_target` tells the address of a notice that was not taken before."""
        self._secrets = secrets
        self._session = http_session
        self._namespace = namespace
        self._ui_url = ui_url
        self._find_target = find_target

    @property
    def activities(self) -> list[Callable[..., Any]]:
        """Both activities, for `Worker(activities=…)`."""
        return [self.send_notice, self.send_ping]

    @activity.defn(name=SEND_NOTICE)
    async def send_notice(self, delivery: Delivery) -> None:
        """Sends a notice to one address. Raises ApplicationError, in which there is no secret, where it was not taken."""
        known = _Known(self._secrets)
        again = activity.info().attempt > 1
        target, notice = await self._find_target(delivery) if again else delivery.target, delivery.notice
        link = run_url_of(self._ui_url, self._namespace, notice)
        try:
            if target.apprise:
                await _apprise(known.address(target.apprise), title_of(notice), text_of(notice, link))
            else:
                headers = {"Idempotency-Key": delivery.key, **known.render(target.headers)}
                await self._post(known.address(target.url), document_of(notice, link), headers)
        except HandlerError as error:
            failure = known.failure(error, f"channel {target.channel}")
        else:
            told = {"event_told": notice.event, "channel": target.channel, "job": notice.job}
            structlog.get_logger().info("notice sent", action="notice_sent", **told)
            return
        raise failure

    @activity.defn(name=SEND_PING)
    async def send_ping(self, ping: Ping) -> None:
        """Pings an outside monitor as Healthchecks.io is pinged. Raises ApplicationError where it does not take that."""
        known = _Known(self._secrets)
        try:
            url = _address(known.address(ping.url))
            path = url.path.rstrip("/") + {"start": "/start", "success": "", "fail": "/fail"}[ping.sign]
            whole = url.with_path(path, keep_query=True).update_query(rid=ping.run_id)
            await self._request(whole, cut_end(ping.reason, LONGEST_REASON).encode(), {}, PING_SECONDS)
        except HandlerError as error:
            failure = known.failure(error, f"ping ({ping.sign})")
        else:
            return
        raise failure

    async def _post(self, url: str, document: dict[str, Any], headers: dict[str, str]) -> None:
        body = readable_text(json.dumps(document, ensure_ascii=False)).encode()
        given = {"Content-Type": "application/json", **headers}
        await self._request(_as_written(url), body, given, ANSWER_SECONDS)

    async def _request(self, url: URL, body: bytes, headers: dict[str, str], seconds: float) -> None:
        import aiohttp  # with the first notice, since most workers never send one

        from activities.handlers.proxy import proxied

        limit = aiohttp.ClientTimeout(total=seconds)
        given = {"User-Agent": "tickwright", **headers}
        try:
            async with self._session().post(
                url, data=body, allow_redirects=False, timeout=limit, **proxied(url, given)
            ) as answer:
                if not answer.ok or answer.status >= 300:  # noqa: PLR2004 - a redirect is not followed
                    wait = seconds_to_wait(answer.headers.get("Retry-After"), datetime.now(UTC))
                    raise HandlerError(f"it answered {answer.status} {answer.reason}", retry_after=wait)
        except TimeoutError:
            raise HandlerError(f"no answer within {seconds:g} s") from None
        except ValueError:  # Its message quotes the address or the header.
            raise HandlerError("its address or one of its headers is not valid HTTP") from None
        except (aiohttp.ClientError, OSError) as error:
            raise HandlerError(f"no answer: {type(error).__name__}") from None


class _Known:
    """The secrets of one activity: filled in, and kept out of what it says."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets
        self._redactor = Redactor()
        use_redactor(self._redactor)

    def render(self, value: Any) -> Any:
        """The value with secrets in the place of references. Raises HandlerError."""
        return render(value, {}, self._secret)

    def address(self, written: str) -> str:
        """An address with its secrets, whose parts libraries may name each by itself: they are kept out as well."""
        from yarl import URL

        from activities.handlers.address import disguises

        whole = str(self.render(written))
        with suppress(ValueError):
            for part in disguises(URL(whole), written):
                self._redactor.add(part)
        return whole

    def failure(self, error: HandlerError, what: str) -> ApplicationError:
        """What Temporal is told; every kind is tried again, for a wrong secret or address may be put right meanwhile."""
        message = cut_end(readable_text(self._redactor.text(f"{what}: {error.message}")), LONGEST_ERROR)
        structlog.get_logger().warning("not delivered", action="not_delivered", error=message)
        delay = timedelta(seconds=error.retry_after) if error.retry_after else None
        return ApplicationError(message, type=NOT_DELIVERED, next_retry_delay=delay)

    def _secret(self, name: str) -> str:
        value = self._secrets.resolve(name)
        self._redactor.add(value)
        return value


def _as_written(text: str) -> URL:
    from activities.handlers.address import as_written

    try:
        return as_written(text)
    except ValueError:
        raise HandlerError("its address is not like https://host/path") from None


def _address(text: str) -> URL:
    """One whose path and query are to be added to."""
    from yarl import URL

    _as_written(text)
    return URL(text)


async def _apprise(address: str, title: str, text: str) -> None:
    """The library blocks, and takes a second to load: it does both in a thread. Raises HandlerError."""
    try:
        taken = await asyncio.to_thread(_notify, address, title, readable_text(text))
    except HandlerError:
        raise
    except Exception as error:  # noqa: BLE001 - over a hundred services, whose messages may quote the address
        raise HandlerError(f"apprise failed with {type(error).__name__}") from None
    if not taken:
        raise HandlerError("the service did not accept it; the worker's log says more")


def _notify(address: str, title: str, text: str) -> bool:
    import apprise

    sender = apprise.Apprise()
    if not sender.add(address):
        raise HandlerError("apprise does not know such an address; see https://github.com/caronc/apprise/wiki")
    return bool(sender.notify(body=text or title, title=title, body_format=apprise.NotifyFormat.TEXT))
