"""Temporal's codec server protocol: POST …/decode and …/encode take and give `{"payloads": […]}`, the JSON of Payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web
from google.protobuf import json_format
from temporalio.api.common.v1 import Payloads

from schedules.errors import UndecodableError
from schedules.server.codec import EncryptionCodec
from schedules.server.codec_keys import TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.serve.access import Token
    from schedules.server.codec_keys import CodecKeys

LARGEST_BODY = 64 * 1024**2
"""Bytes; the Web UI sends the payloads of many events at once."""
PRIVATE_NETWORK = "Access-Control-Request-Private-Network"
"""Asked by a browser before a page of the internet, such as Temporal Cloud's UI, may call a private address."""


class CodecServer:
    """Answers callers that have the token, if there is one, and pages of these origins."""

    def __init__(self, keys: CodecKeys, origins: Sequence[str], token: Token | None) -> None:
        self._codec = EncryptionCodec(keys)
        self._origins = frozenset(origins)
        self._token = token

    def application(self) -> web.Application:
        """The routes; only the last part of a path counts, as the protocol wants it."""
        application = web.Application(client_max_size=LARGEST_BODY)
        path = "/{above:(?:.*/)?}{verb:encode|decode}"
        application.add_routes([web.post(path, self._convert), web.options(path, self._allow)])
        return application

    async def _allow(self, request: web.Request) -> web.Response:
        """A browser's question before the request itself; it carries no token."""
        headers = self._cors(request)
        if headers and request.headers.get(PRIVATE_NETWORK) == "true":
            headers["Access-Control-Allow-Private-Network"] = "true"
        return web.Response(status=204, headers=headers)

    async def _convert(self, request: web.Request) -> web.Response:
        cors = self._cors(request)
        if "Origin" in request.headers and not cors:
            return web.Response(status=403, text="pages of this origin may not call; add it with --origin\n")
        if not self._may(request):
            return web.Response(
                status=401, text=f"send the token of {TOKEN} as `Authorization: Bearer …`\n", headers=cors
            )
        convert = self._codec.decode if request.match_info["verb"] == "decode" else self._codec.encode
        try:
            payloads = json_format.Parse(await request.read(), Payloads())
            done = Payloads(payloads=await convert(payloads.payloads))
        except (json_format.ParseError, UnicodeDecodeError):
            return web.Response(status=400, text='the body is no {"payloads": […]} in JSON\n', headers=cors)
        except UndecodableError as error:
            return web.Response(status=400, text=f"{error}\n", headers=cors)
        return web.Response(text=json_format.MessageToJson(done), content_type="application/json", headers=cors)

    def _may(self, request: web.Request) -> bool:
        return self._token is None or self._token.admits(request.headers.get("Authorization", ""))

    def _cors(self, request: web.Request) -> dict[str, str]:
        origin = request.headers.get("Origin", "")
        if origin not in self._origins:
            return {}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "POST",
            "Access-Control-Allow-Headers": "content-type,x-namespace,authorization",
            "Vary": "Origin",
        }
