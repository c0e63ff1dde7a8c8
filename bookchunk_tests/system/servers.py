"""Real servers on loopback, each of its own, ended by its process id: PostgreSQL, Redis, and one that speaks S3."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from s3fs import S3FileSystem

from bookchunk_tests.system.served import free_port, until

SOON = 120.0  # seconds for a server to answer, on a busy machine
POSTGRES = "/usr/lib/postgresql"  # where Debian keeps each version's programs


def program(name: str, package: str, *folders: Path) -> str:
    """Where a program is; the test that needs it fails where it is not."""
    found = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ["PATH"], "/usr/sbin"]))
    if found is None:
        pytest.fail(f"no {name}: apt-get install {package}")
    return found


@contextmanager
def postgres() -> Iterator[str]:
    """A database, by its URL. PostgreSQL refuses to run as root, so there it runs as the user that its package made."""
    folders = sorted(Path(POSTGRES).glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    initdb, server = (program(name, "postgresql", *folders) for name in ("initdb", "postgres"))
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bookchunk-postgres-") as folder:
        who: dict[str, Any] = {}
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
            who = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        made = [initdb, "-D", f"{folder}/data", "-U", "bookchunk", "--auth=trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd=folder, **who)
        command = [server, "-D", f"{folder}/data", "-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"]
        where = {"host": "127.0.0.1", "port": port, "user": "bookchunk", "dbname": "postgres"}
        stop = signal.SIGINT  # without waiting for clients
        with running_server(command, lambda: psycopg2.connect(**where).close(), stop, cwd=folder, **who):
            yield f"postgresql+psycopg2://bookchunk@127.0.0.1:{port}/postgres"


@contextmanager
def redis() -> Iterator[str]:
    """A broker, by its URL."""
    port = free_port()
    command = [
        program("redis-server", "redis-server"),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
    ]
    with running_server(command, lambda: socket.create_connection(("127.0.0.1", port)).close()):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def object_store(bucket: str) -> Iterator[Mapping[str, str]]:
    """A server that speaks S3 and has a bucket; the environment by which clients find it."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with running_server(command, lambda: urllib.request.urlopen(f"{address}/moto-api/").close()):
        urllib.request.urlopen(urllib.request.Request(f"{address}/{bucket}", method="PUT")).close()
        S3FileSystem.clear_instance_cache()  # one that is kept knows the server of a test before
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@contextmanager
def running_server(
    command: Sequence[str], answers: Callable[[], object], stop: int = signal.SIGTERM, **given: Any
) -> Iterator[None]:
    """A server while it is needed, once ``answers`` raises nothing."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **given
    )

    def there() -> bool:
        try:
            answers()
        except (OSError, psycopg2.Error):
            return False
        return True

    try:
        until(f"{command[0]}'s answer", there, SOON, lambda: process.poll() is None)
        yield
    finally:
        process.send_signal(stop)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
