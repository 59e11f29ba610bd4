"""A web server for the files below a folder, on this machine, that records the bytes it sends."""

import dataclasses
import http.server
import os
import re
import threading
import urllib.parse

BOUNDARY = "packstore-parts"
COPY_BYTES = 1 << 20


@dataclasses.dataclass
class Exchange:
    """A request and its answer, with the head of the answer in `sent_bytes`."""

    path: str
    sent_bytes: int


class FileServer:
    """Serves by HTTP/1.1 with kept connections, ranges (several in one request, too) and `If-Range`."""

    def __init__(self, folder):
        self.exchanges = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).lstrip("/")
                try:
                    with open(os.path.join(folder, path), "rb") as file:
                        self.send(path, file, *answer(file, self.headers))
                except (FileNotFoundError, IsADirectoryError):
                    self.send(path, None, 404, {}, [])

            def send(self, path, file, status, fields, parts):
                """Sends the head, then bytes and ranges of the file."""
                length = sum(len(part) if isinstance(part, bytes) else part[1] - part[0] for part in parts)
                lines = [f"HTTP/1.1 {status} {self.responses[status][0]}"]
                lines += [f"{name}: {value}" for name, value in ({"Content-Length": length} | fields).items()]
                head = ("\r\n".join(lines) + "\r\n\r\n").encode()
                # Recorded first: a client that has the whole answer may ask for the exchanges at once.
                outer.exchanges.append(Exchange(path, len(head) + length))
                self.wfile.write(head)
                for part in parts:
                    if isinstance(part, bytes):
                        self.wfile.write(part)
                        continue
                    file.seek(part[0])
                    left = part[1] - part[0]
                    while left and (content := file.read(min(left, COPY_BYTES))):
                        self.wfile.write(content)
                        left -= len(content)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{path}"

    def take_exchanges(self):
        """The exchanges since the last call."""
        taken, self.exchanges = self.exchanges, []
        return taken

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def answer(file, headers):
    """The status, the fields, and the parts of the body: bytes, or (begin, end) of the file."""
    status = os.fstat(file.fileno())
    length, tag = status.st_size, f'"{status.st_size:x}-{status.st_mtime_ns:x}"'
    fields = {"ETag": tag, "Accept-Ranges": "bytes"}
    asked = headers["Range"] if headers.get("If-Range", tag) == tag else None
    ranges = parse_ranges(asked, length) if asked else None
    if ranges is None:
        return 200, fields, [(0, length)]
    if not ranges:
        return 416, {"Content-Range": f"bytes */{length}"}, []
    if len(ranges) == 1:
        begin, end = ranges[0]
        return 206, fields | {"Content-Range": f"bytes {begin}-{end - 1}/{length}"}, ranges
    parts = []
    for begin, end in ranges:
        parts += [f"\r\n--{BOUNDARY}\r\nContent-Range: bytes {begin}-{end - 1}/{length}\r\n\r\n".encode(), (begin, end)]
    parts.append(f"\r\n--{BOUNDARY}--\r\n".encode())
    return 206, fields | {"Content-Type": f"multipart/byteranges; boundary={BOUNDARY}"}, parts


def parse_ranges(text, length):
    """The ranges (begin, end) that the file has; `None` for an invalid field, which a server ignores."""
    kind, _, listed = text.partition("=")
    found = [re.fullmatch(r"\s*(\d*)-(\d*)\s*", one) for one in listed.split(",")]
    if kind.strip() != "bytes" or any(one is None or one[0].strip() == "-" for one in found):
        return None
    ranges = []
    for one in found:
        begin = int(one[1]) if one[1] else max(0, length - int(one[2]))
        end = min(length, int(one[2]) + 1) if one[1] and one[2] else length
        if begin < end:
            ranges.append((begin, end))
    return ranges
