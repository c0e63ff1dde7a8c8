"""A local server that speaks the wire formats of the embedding providers, and holds clients to their limits."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

SIZES = {"text-embedding-3-large": 3072, "voyage-3-large": 1024, "voyage-context-3": 1024, "jina-embeddings-v3": 1024}
MOST = {"text-embedding-3-large": 2048, "voyage-3-large": 1000, "voyage-context-3": 16000, "jina-embeddings-v3": 2048}


def vector_of(text: str, size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector that only this text has."""
    seed = int.from_bytes(text.encode()[:64], "little") + len(text)
    return np.random.default_rng(seed).normal(size=size).astype("<f4")


@dataclass
class Wire:
    """What was asked, and what to answer instead of vectors: a list of (status, body, headers) that are used up, and
    ``spoil``, which changes an answer's vectors."""

    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    troubles: dict[int, tuple[int, Any, dict[str, str]]] = field(default_factory=dict)  # by number of the request
    spoil: Any = None

    def answer(self, path: str, body: dict[str, Any], key: str) -> tuple[int, Any, dict[str, str]]:
        self.asked.append((path, body))
        if trouble := self.troubles.get(len(self.asked)):
            return trouble
        if key != "Bearer secret":
            return 401, {"error": {"message": "bad key"}, "detail": "bad key"}, {}
        nested = body.get("inputs")
        texts = nested[0] if nested else body["input"]
        if len(texts) > MOST[body["model"]]:
            return 400, {"error": {"message": "too many inputs"}, "detail": "too many inputs"}, {}
        vectors = [vector_of(text, SIZES[body["model"]]) for text in texts]
        if self.spoil:
            vectors = self.spoil(vectors)
        data = [
            {
                "object": "embedding",
                "index": n,
                "embedding": base64.b64encode(np.asarray(v, "<f4").tobytes()).decode()
                if body.get("encoding_format") == "base64"
                else [float(x) for x in v],
            }
            for n, v in enumerate(vectors)
        ]
        data.reverse()  # the index tells, not the place
        if nested:
            data = [{"object": "list", "index": 0, "data": data}]
        return (
            200,
            {
                "object": "list",
                "model": body["model"],
                "data": data,
                "usage": {"total_tokens": 1000 * len(texts), "prompt_tokens": 0},
            },
            {},
        )


@contextmanager
def serving() -> Iterator[Wire]:
    wire = Wire()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, value, headers = wire.answer(self.path, body, self.headers.get("authorization", ""))
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, told in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
                self.send_header(name, told)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wire.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
