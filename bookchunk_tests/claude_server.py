"""A server that speaks the wire format of Anthropic's Messages API, batches included, with faults on demand.

``python -m bookchunk_tests.claude_server --latency 0.05`` serves until it is ended, and prints its address first."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bookchunk_assets.chunking.tokens import count

KEY = "sk-ant-planted-key-0123456789"
WORDS = "argument passage scene history figure letter story question answer reader teacher city river council".split()
Body = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What a request is answered with instead. ``status`` 0 drops the connection, -1 answers nothing for ``seconds``."""

    status: int = 200
    kind: str = "api_error"
    message: str = "a fault on demand"
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    stop: str = "end_turn"
    seconds: float = 0.0


def prompt_of(body: Body) -> str:
    """All the text of a request, in its order."""
    content = body["messages"][0]["content"]
    parts = [content] if isinstance(content, str) else [block["text"] for block in content]
    return str(body.get("system", "")) + "\n" + "".join(parts)


def is_summary(body: Body) -> bool:
    return "Summary (100-150 words):" in prompt_of(body)


def answer_to(body: Body) -> str:
    """An answer that depends on what identifies the question alone, 50 to 100 tokens long."""
    prompt = prompt_of(body)
    asked = prompt if is_summary(body) else prompt[prompt.index("Section path:") :]
    draw = random.Random(hashlib.sha256(asked.encode()).hexdigest())
    said = ", then the ".join(draw.choice(WORDS) + " of the " + draw.choice(WORDS) for _ in range(7))
    text = f"This part takes up the {said}, and it closes with the {draw.choice(WORDS)} number {draw.randrange(10**6)}."
    return f"{text} {text} {text}" if is_summary(body) else text


class ClaudeServer(ThreadingHTTPServer):
    """What was asked is in ``requests``, what it came to in ``usage`` by model; ``faults`` says what goes wrong."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, latency: float = 0.0) -> None:
        self.latency = latency
        self.lock = threading.Lock()
        self.requests: list[Body] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answered = 0
        self.usage: dict[str, dict[str, int]] = {}
        self.cache: set[str] = set()
        self.batches: dict[str, Body] = {}
        self.polls = 1  # looks at a batch before it has ended
        self.expired: Callable[[Body], bool] = lambda body: False
        self.results_host: str | None = None
        self.fault: Callable[[int, Body], Fault | None] = lambda n, body: None
        self.answer: Callable[[Body], str] = answer_to
        self.under_way = self.most_under_way = 0
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def calls(self) -> tuple[int, int]:
        """How many summaries and prefixes were asked for since the last time."""
        with self.lock:
            asked, self.requests = self.requests, []
        summaries = sum(map(is_summary, asked))
        return summaries, len(asked) - summaries

    def dollars(self) -> float:
        """What all answers cost at Claude Haiku 4.5's prices."""
        prices = {
            "input_tokens": 1,
            "output_tokens": 5,
            "cache_creation_input_tokens": 1.25,
            "cache_read_input_tokens": 0.1,
        }
        return sum(
            n * prices[kind] * (0.5 if tariff.endswith("/batch") else 1) / 1e6
            for tariff, used in self.usage.items()
            for kind, n in used.items()
        )

    def message(self, body: Body, fault: Fault | None = None, batch: bool = False) -> Body:
        text = self.answer(body) if fault is None or fault.text is None else fault.text
        blocks = body["messages"][0]["content"]
        shared = json.dumps([body.get("system"), blocks[0]]) if "cache_control" in blocks[0] else None
        size, start = count(prompt_of(body)), count(blocks[0]["text"]) if shared else 0
        with self.lock:
            known = shared in self.cache
            if shared:
                self.cache.add(shared)
            usage = {
                "input_tokens": size - start,
                "output_tokens": count(text),
                "cache_creation_input_tokens": 0 if known else start,
                "cache_read_input_tokens": start if known else 0,
            }
            total = self.usage.setdefault(body["model"] + ("/batch" if batch else ""), dict.fromkeys(usage, 0))
            for kind, n in usage.items():
                total[kind] += n
            self.answered += 1
        return {
            "id": f"msg_{self.answered:06d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"] + "-20251001",
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": fault.stop if fault else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ClaudeServer
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        pass

    def send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, content in {
            "content-type": "application/json",
            "request-id": self.request_id,
            **(headers or {}),
        }.items():
            self.send_header(name, content)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def error(self, fault: Fault) -> None:
        told = {"type": "error", "error": {"type": fault.kind, "message": fault.message}, "request_id": self.request_id}
        self.send(fault.status, told, fault.headers)

    def allowed(self) -> bool:
        given = self.headers.get("x-api-key") or (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if given == KEY and self.headers.get("anthropic-version"):
            return True
        self.error(Fault(401, "authentication_error", "invalid x-api-key"))
        return False

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        with server.lock:
            server.paths.append(path)
            server.headers.append(dict(self.headers))
            n = len(server.paths)
            self.request_id = f"req_{n:06d}"
        if not self.allowed():
            return
        if path == "/v1/messages/count_tokens":
            self.send(200, {"input_tokens": count(prompt_of(body))})
        elif path == "/v1/messages/batches":
            self.batch(body)
        elif path == "/v1/messages":
            self.messages(n, body)
        else:
            self.error(Fault(404, "not_found_error", path))

    def messages(self, n: int, body: Body) -> None:
        server = self.server
        assert {"model", "max_tokens", "messages"} <= set(body), body
        assert not {"tools", "temperature"} & set(body), body
        with server.lock:
            server.requests.append(body)
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
        try:
            time.sleep(server.latency)
            fault = server.fault(n, body)
            if fault is not None and fault.status <= 0:
                time.sleep(fault.seconds)
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
        finally:
            with server.lock:
                server.under_way -= 1
        if fault is not None and fault.status != 200:
            self.error(fault)
            return
        self.send(200, server.message(body, fault))

    def batch(self, body: Body) -> None:
        server = self.server
        fault = server.fault(len(server.paths), body)
        if fault is not None and fault.status > 200:
            self.error(fault)
            return
        for item in body["requests"]:
            assert 0 < len(item["custom_id"]) <= 64
        with server.lock:
            name = f"msgbatch_{len(server.batches):04d}"
            server.batches[name] = {"items": body["requests"], "polls": 0}
        if fault is not None and fault.status == 0:  # taken, but nobody hears of it
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send(200, self.batch_state(name))

    def batch_state(self, name: str) -> Body:
        server = self.server
        batch = server.batches[name]
        ended, n = batch["polls"] > server.polls, len(batch["items"])
        host = server.results_host or server.url
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else n, "succeeded": n if ended else 0, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-11-30T00:00:00Z",
            "expires_at": "2026-12-01T00:00:00Z",
            "ended_at": "2026-11-30T00:10:00Z" if ended else None,
            "results_url": f"{host}/v1/messages/batches/{name}/results" if ended else None,
        }  # fmt: skip

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            server.paths.append(self.path)
            self.request_id = f"req_{len(server.paths):06d}"
        if not self.allowed():
            return
        parts = self.path.partition("?")[0].removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            self.send(200, {"data": [self.batch_state(name) for name in reversed(server.batches)], "has_more": False, "first_id": None, "last_id": None})  # fmt: skip
            return
        batch = server.batches.get(parts[0])
        if batch is None:
            self.error(Fault(404, "not_found_error", "no such batch"))
        elif parts[1:] == ["results"]:
            self.results(batch)
        else:
            batch["polls"] += 1
            self.send(200, self.batch_state(parts[0]))

    def results(self, batch: Body) -> None:
        server = self.server
        lines = []
        for item in batch["items"]:
            body = item["params"]
            if "lines" not in batch:
                with server.lock:
                    server.requests.append(body)
            fault = server.fault(0, body)
            if server.expired(body):
                result: Body = {"type": "expired"}
            elif fault is not None and fault.status != 200:
                result = {
                    "type": "errored",
                    "error": {"type": "error", "error": {"type": fault.kind, "message": fault.message}},
                }
            else:
                result = {"type": "succeeded", "message": server.message(body, fault, batch=True)}
            lines.append(json.dumps({"custom_id": item["custom_id"], "result": result}))
        random.Random(len(lines)).shuffle(lines)
        batch["lines"] = lines
        self.send(200, ("\n".join(lines) + "\n").encode(), {"content-type": "application/binary"})


@contextmanager
def serving(latency: float = 0.0) -> Iterator[ClaudeServer]:
    """A server on a free port, ended with the block."""
    server = ClaudeServer(latency)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    server = ClaudeServer(parser.parse_args().latency)
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
