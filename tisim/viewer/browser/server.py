"""Serves one page over HTTP, a stream of JPEGs beside it, and collects what its visitors do."""

import collections
import http.server
import json
import threading
import urllib.parse

from tisim.errors import Error

PATIENCE = 20.0  # a connection that takes nothing for so long is dropped [s]
LONGEST = 1 << 16  # of what a visitor sends [byte]
KEPT = 10_000  # events that wait, at most
HERE = ("127.0.0.1", "localhost", "::1")
AGAIN = 0.2  # after which a picture is sent again, if there is no other [s]
BOUNDARY = b"--picture\r\n"


class Server:
    """An HTTP server in threads of its own.

    page    bytes of HTML;  check  a function of what a visitor sent, decoded from JSON: a list of events; raises
            ValueError for what is none;  host, port  where it listens; port 0: any that is free.
    Pages of other places may neither read nor steer: requests must name this server, and come from its own page.
    Raises Error where the port cannot be had.
    """

    def __init__(self, page, check, host="127.0.0.1", port=8080):
        self.page, self.check, self.host = page, check, host
        self._events = collections.deque(maxlen=KEPT)
        self._changed = threading.Condition()
        self._picture, self._number, self._words = b"", 0, b"{}"
        self.watched = self.arrived = 0  # streams that are open, and have ever been
        self._open = True
        try:
            self._http = _Listener((host, port), _Visit)
        except (OSError, OverflowError) as error:
            raise Error(f"cannot listen on {host}:{port}: {error}; give another --host or --port") from None
        self._http.owner = self
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, name="tisim page", daemon=True).start()

    @property
    def url(self):
        """Where the page is."""
        host = "localhost" if self.host in ("", "0.0.0.0", *HERE) else self.host
        return f"http://{host}:{self.port}"

    def show(self, jpeg):
        """The next picture of all streams."""
        with self._changed:
            self._picture, self._number = jpeg, self._number + 1
            self._changed.notify_all()

    def say(self, words):
        """What the page asks for from time to time: anything JSON has."""
        self._words = json.dumps(words).encode()

    def take(self):
        """What visitors did since the last call, in order."""
        out = []
        while self._events:
            out.append(self._events.popleft())
        return out

    def close(self):
        """Ends all streams, and stops."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
        self._http.shutdown()
        self._http.server_close()

    # of the threads that serve

    def known(self, headers):
        """Whether a request was meant for this server and, if it says where from, comes of its own page."""
        host = headers.get("Host", "")
        name = urllib.parse.urlsplit(f"//{host}").hostname
        if self.host in HERE and name not in HERE:
            return False
        origin = headers.get("Origin")
        return origin is None or urllib.parse.urlsplit(origin).netloc == host

    def pictures(self):
        """The pictures as they come, the last one twice; one that takes long over the last misses those between."""
        with self._changed:
            self.watched, self.arrived = self.watched + 1, self.arrived + 1
        seen, again = 0, False
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: not self._open or self._number > seen, AGAIN if again else None)
                    if not self._open:
                        return
                    again = self._number > seen  # Chromium shows a picture when the next one has begun
                    picture, seen = self._picture, self._number
                yield picture
        finally:
            with self._changed:
                self.watched -= 1


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # visitors leave in the middle of a picture


class _Visit(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def log_message(self, *_):
        pass

    def do_GET(self):
        owner, path = self.server.owner, self.path.partition("?")[0]
        if not owner.known(self.headers):
            self._answer(403, b"not for this page", "text/plain")
        elif path == "/":
            self._answer(200, owner.page, "text/html; charset=utf-8")
        elif path == "/words":
            self._answer(200, owner._words, "application/json")
        elif path == "/pictures":
            self._stream(owner)
        else:
            self._answer(404, b"there is no such page", "text/plain")

    def do_POST(self):
        owner = self.server.owner
        length = self.headers.get("Content-Length", "")
        if not owner.known(self.headers):
            return self._answer(403, b"not for this page", "text/plain")
        if self.path != "/events" or not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True  # what it sends is not read
            return self._answer(404, b"expected at most 64 KiB to /events", "text/plain")
        try:
            owner._events.extend(owner.check(json.loads(self.rfile.read(int(length)))))
        except (ValueError, RecursionError) as error:
            return self._answer(400, str(error).encode()[:200], "text/plain")
        self._answer(204, b"", "text/plain")

    def _answer(self, code, body, kind):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, owner):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=picture")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(BOUNDARY)
        for jpeg in owner.pictures():  # browsers show a picture when the next boundary is there
            self.wfile.write(b"Content-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg)
            self.wfile.write(b"\r\n" + BOUNDARY)
            self.wfile.flush()
