"""A web server for tests, with the habits that servers have."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class Server(ThreadingHTTPServer):
    """Serves one file under every path, over this machine only."""

    daemon_threads = True

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.name = name
        self.knows_ranges = True
        self.breaks_after: list[int] = []
        """For each of the next answers, the bytes of the body after which the connection is closed."""
        self.stalls_at: int | None = None
        """The bytes of the body after which nothing more comes, until `release`."""
        self.release = Event()
        self.statuses: list[int] = []
        """What the next requests are refused with."""
        self.asked: list[str | None] = []
        """The Range header of each request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{self.name}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        asked = self.headers.get("Range")
        server.asked.append(asked)
        if server.statuses:
            self.send_error(server.statuses.pop(0))
            return
        start = 0
        if asked and server.knows_ranges:
            start = int(re.findall(r"bytes=(\d+)-", asked)[0])
            if start >= len(server.content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}")
        else:
            self.send_response(200)
        body = server.content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if server.breaks_after:
            body = body[: server.breaks_after.pop(0)]
        elif server.stalls_at is not None:
            self.wfile.write(body[: server.stalls_at])
            server.release.wait()
            return
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Nothing: tests look at `asked`."""


@contextmanager
def serving(content: bytes, name: str = "model.zip") -> Iterator[Server]:
    with Server(content, name) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
            thread.join()
