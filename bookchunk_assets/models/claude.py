"""Claude, by the ``anthropic`` SDK: its wire format and its errors, in the port's terms.

Retries are ours (the SDK honours ``retry-after`` without a cap), and no request leaves the base URL's host: the SDK
would send the key to wherever a batch's ``results_url`` points.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2

from bookchunk_assets.models.failure import Gone, ModelFailed, Transient
from bookchunk_assets.models.limits import Limits
from bookchunk_assets.models.port import Reply, Request
from bookchunk_assets.models.usage import Usage

PASSING = frozenset({408, 409, 429})  # and all from 500 on
FINAL = frozenset({401, 402, 403, 404})  # the next call would fare no better: key, bill, rights, model
ENDINGS = {"end_turn": "end", "stop_sequence": "end"}
WORD = re.compile(r"\w{4,}")
LONGEST_MESSAGE = 200


class Elsewhere(anthropic.AnthropicError):
    """A request would leave for another host."""


class Claude:
    """The port over one client. The SDK's loggers, which print prompts, are kept from it whatever the environment
    says."""

    def __init__(self, key: str, limits: Limits) -> None:
        for name in ("anthropic", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._key = key
        self._timeout = limits.timeout
        self._client = anthropic.Anthropic(
            api_key=key,
            max_retries=0,
            timeout=httpx2.Timeout(limits.timeout, connect=min(limits.timeout, 10.0)),
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(event_hooks={"request": [self._stay]}, follow_redirects=False),
        )

    def close(self) -> None:
        """See the port."""
        self._client.close()

    def ask(self, request: Request) -> Reply:
        """See the port."""
        with self._told(request):
            message = self._client.messages.create(**_wire(request))
            return _reply(message, message._request_id or "")

    def submit(self, requests: Mapping[str, Request]) -> str:
        """See the port."""
        with self._told():
            items: Any = [{"custom_id": name, "params": _wire(request)} for name, request in requests.items()]
            return self._client.messages.batches.create(requests=items).id

    def recent(self) -> list[tuple[str, int]]:
        """See the port."""
        with self._told():
            page = self._client.messages.batches.list(limit=100).data
            counts = [(each.id, each.request_counts) for each in page]
            return [(name, n.processing + n.succeeded + n.errored + n.canceled + n.expired) for name, n in counts]

    def ended(self, batch: str) -> bool:
        """See the port."""
        with self._told():
            return self._client.messages.batches.retrieve(batch).processing_status == "ended"

    def results(self, batch: str) -> Iterator[tuple[str, Reply | None]]:
        """See the port. All are read before the first is given, so that a broken line gives none."""
        with self._told():
            found = []
            for line in self._client.messages.batches.results(batch):
                answered = line.result.type == "succeeded"
                found.append((line.custom_id, _reply(line.result.message, batch) if answered else None))  # type: ignore[union-attr]
        yield from found

    def _stay(self, request: httpx2.Request) -> None:
        base = self._client.base_url
        if (request.url.scheme, request.url.host, request.url.port) != (base.scheme, base.host, base.port):
            raise Elsewhere(
                f"the answers are said to stand at {request.url.host}, which is not {base.host}; not followed"
            )

    @contextmanager
    def _told(self, request: Request | None = None) -> Iterator[None]:
        """The SDK's errors as the port's. What caused them is not passed on: it may hold the prompt."""
        try:
            yield
        except Elsewhere as error:
            raise ModelFailed(str(error)) from None
        except anthropic.APIStatusError as error:
            raise self._status(error, request) from None
        except anthropic.APITimeoutError:
            raise Transient(f"no answer within {self._timeout:g} s") from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            cause = type(error.__cause__ or error).__name__
            raise Transient(f"no connection to {self._client.base_url.host}, or a dropped one ({cause})") from None
        except (anthropic.AnthropicError, json.JSONDecodeError, AttributeError, TypeError) as error:
            raise Transient(f"an answer that is not of the wire format ({type(error).__name__})") from None

    def _status(self, error: anthropic.APIStatusError, request: Request | None) -> Exception:
        code, headers = error.status_code, error.response.headers
        what = (
            f"{code} {error.type or 'error'}{self._message(error, request)} (request {error.request_id or 'unknown'})"
        )
        again = headers.get("x-should-retry")
        if again != "false" and (again == "true" or code in PASSING or code >= 500):
            return Transient(what, _seconds(headers))
        return (Gone if code == 404 else ModelFailed)(what, final=code in FINAL)

    def _message(self, error: anthropic.APIStatusError, request: Request | None) -> str:
        """The provider's words, less the key and every longer word that the request has too: none of it is repeated."""
        message = error.api_message
        if not isinstance(message, str) or not message or request is None:
            return ""
        asked = request.system + request.shared + request.own
        safe = WORD.sub(lambda word: "…" if word[0] in asked else word[0], message.replace(self._key, "…"))
        return f": {' '.join(safe.split())[:LONGEST_MESSAGE]}"


def _seconds(headers: Any) -> float | None:
    """What ``retry-after`` asks for, in seconds."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            if (seconds := float(headers[name]) * scale) >= 0:
                return seconds
        except (KeyError, ValueError):
            continue
    return None


def _wire(request: Request) -> dict[str, Any]:
    shared: dict[str, Any] = {"type": "text", "text": request.shared}
    if request.cached:
        shared["cache_control"] = {"type": "ephemeral"}
    return {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": [{"role": "user", "content": [shared, {"type": "text", "text": request.own}]}],
    }


def _reply(message: Any, request_id: str) -> Reply:
    texts = [block.text for block in message.content or () if block.type == "text" and block.text]
    usage = message.usage
    return Reply(
        text="".join(texts),
        ending=ENDINGS.get(message.stop_reason, message.stop_reason or "unknown"),
        usage=Usage(
            usage.input_tokens or 0,
            usage.output_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            usage.cache_read_input_tokens or 0,
        ),
        request_id=request_id,
    )
