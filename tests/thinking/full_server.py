"""A server that lists its model, and has too much to do for every question. Run at a host of a test's network."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Full(BaseHTTPRequestHandler):
    """Answers as Ollama does when its queue is full; says which questions it was asked."""

    def do_GET(self) -> None:
        """A list of models."""
        self._answer(200, {"object": "list", "data": [{"id": "a model", "object": "model"}]})

    def do_POST(self) -> None:
        """No answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(503, {"error": {"message": "server busy, please try again.  maximum pending requests exceeded"}})

    def _answer(self, status: int, content: object) -> None:
        sys.stdout.write(json.dumps({"asked": self.path}) + "\n")
        sys.stdout.flush()
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not of interest."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", 8080), Full)
    sys.stdout.write(json.dumps({"port": server.server_port}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
