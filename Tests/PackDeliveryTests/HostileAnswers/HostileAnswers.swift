#if Delivery
  /// Answers that servers, or machines in between, can give: one per row.
  ///
  /// A row lists all allowed results; with `pulled`, a client can use the answer, or ignore it and ask again.
  enum HostileAnswers {
    static let all = [
      statusLines, otherProtocols, heads, contentLength, contentRange, multipart, chunkedCoding, encodings, redirects,
      refusedRedirects, interim, validators, statuses, transientStatuses, retryAfter, pace, breaks, repeatedBreaks,
      bodies, afterTheEnd, deltas, streams,
    ]

    // MARK: - The status line

    private static let statusLines = RowGroup(
      "status line",
      [
        Row("a later version", [.status("HTTP/9.9 206 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("an earlier version", [.status("HTTP/1.0 206 OK")], [.frames: .pulled]),
        Row("version 2.0", [.status("HTTP/2.0 206 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("a version of many digits", [.status("HTTP/1.111111111111 206 OK")], [.frames: .badResponse]),
        Row("no version", [.status("HTTP 206 OK")], [.frames: .badResponse]),
        Row("lower case", [.status("http/1.1 206 OK")], [.frames: .badResponse]),
        Row("another protocol", [.status("ICY 200 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("status 99", [.status("HTTP/1.1 99 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("status 0", [.status("HTTP/1.1 0 OK")], [.frames: .badResponse]),
        Row("status 000", [.status("HTTP/1.1 000 OK")], [.frames: .unreachable]),
        Row("status 600", [.status("HTTP/1.1 600 OK")], [.frames: .badResponse]),
        Row("status 999", [.status("HTTP/1.1 999 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("status 1000", [.status("HTTP/1.1 1000 OK")], [.root: .badResponse, .frames: .badResponse]),
        Row("status 20", [.status("HTTP/1.1 20 OK")], [.frames: .badResponse]),
        Row("status -206", [.status("HTTP/1.1 -206 OK")], [.frames: .badResponse]),
        Row("status 206.5", [.status("HTTP/1.1 206.5 OK")], [.frames: .badResponse]),
        Row("status of many digits", [.status("HTTP/1.1 99999999999999999999 OK")], [.frames: .badResponse]),
        Row("two blanks", [.status("HTTP/1.1  206 OK")], [.frames: .badResponse]),
        Row("a tab", [.status("HTTP/1.1\t206 OK")], [.frames: .badResponse]),
        Row("no reason", [.status("HTTP/1.1 206")], [.frames: .pulled]),
        Row("a reason with a NUL", [.status("HTTP/1.1 206 O\0K")], [.frames: .pulled]),
        Row("a reason beyond ASCII", [.status("HTTP/1.1 206 \u{fc}\u{ff}")], [.frames: .pulled]),
        Row(
          "a reason of 100 KB", [.status("HTTP/1.1 206 " + String(repeating: "x", count: 100_000))], [.frames: .pulled]),
        Row(
          "a reason that never ends", [.raw("HTTP/1.1 206 "), .end(.repeated(flood))],
          [.root: .unreachable, .frames: .unreachable]),
        Row("an empty line before it", [.before("\r\n")], [.frames: .pulled]),
        Row("a thousand empty lines before it", [.before(String(repeating: "\r\n", count: 1000))], [.frames: .pulled]),
        Row("lines that end with LF alone", [.lineEnd("\n")], [.frames: .badResponse]),
        Row("lines that end with CR alone", [.lineEnd("\r"), .end(.close)], [.frames: .badResponse]),
      ])

    private static let otherProtocols = RowGroup(
      "other protocols",
      [
        Row(
          "HTTP/0.9", [.raw("{body}"), .end(.close)],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .frames: .badResponse]),
        Row(
          "the preface of HTTP/2", [.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "settings of HTTP/2", [.raw("\0\0\0\u{4}\0\0\0\0\0"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "an alert of TLS", [.raw("\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{28}"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row("SSH", [.raw("SSH-2.0-OpenSSH_9.6\r\n"), .end(.close)], [.root: .badResponse]),
        Row("SMTP", [.raw("220 mail ready\r\n"), .end(.close)], [.root: .badResponse]),
        Row(
          "a request", [.raw("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "the client's own request",
          [.raw("GET /site/{path} HTTP/1.1\r\nRange: bytes={first}-{last}\r\n\r\n"), .end(.close)],
          [.frames: .badResponse]),
        Row(
          "NULs", [.raw(String(repeating: "\0", count: 2000)), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row("blanks", [.raw(String(repeating: " ", count: 2000)), .end(.close)], [.frames: .badResponse]),
        Row("bytes by chance", [.raw(chance), .end(.close)], [.root: .badResponse, .frames: .badResponse]),
        Row("bytes that never end", [.raw("\u{1}"), .end(.endless)], [.frames: .badResponse]),
        Row(
          "empty lines that never end", [.raw("\r\n"), .end(.repeated(Array("\r\n\r\n\r\n\r\n".utf8)))],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "nothing, and the end", [.raw(""), .end(.close)],
          [
            .root: .unreachable, .manifest: .unreachable, .table: .unreachable, .pages: .unreachable,
            .frames: .unreachable,
          ]),
        Row("nothing, and a reset", [.raw(""), .end(.reset)], [.root: .unreachable, .frames: .unreachable]),
        Row("nothing, for ever", [.raw(""), .end(.stall)], [.root: .unreachable, .frames: .unreachable]),
      ])

    // MARK: - Fields

    private static let heads = RowGroup(
      "head",
      [
        Row("a line without a colon", [.line("nonsense")], [.root: .badResponse, .frames: .badResponse]),
        Row("a field without a name", [.line(": x")], [.frames: .badResponse]),
        Row("a blank before the colon", [.line("X-A : x")], [.frames: .badResponse]),
        Row(
          "a blank before the colon of a length", [.without("Content-Length"), .line("Content-Length : {count}")],
          [.frames: .badResponse]),
        Row("a blank in a name", [.line("X A: x")], [.frames: .badResponse]),
        Row("a NUL in a name", [.line("X\0A: x")], [.frames: .badResponse]),
        Row("a NUL in a value", [.line("X-A: x\0y")], [.root: .badResponse, .frames: .badResponse]),
        Row("a CR in a value", [.line("X-A: x\ry")], [.frames: .badResponse]),
        Row("a control character in a value", [.line("X-A: x\u{1}y")], [.frames: .badResponse]),
        Row("a name beyond ASCII", [.line("X-\u{fc}: x")], [.frames: .badResponse]),
        Row("a value beyond ASCII", [.line("X-A: \u{fc}\u{ff}")], [.frames: .pulled]),
        Row("a name of 100 KB", [.line(String(repeating: "x", count: 100_000) + ": x")], [.frames: .badResponse]),
        Row(
          "a value of 100 KB", [.line("X-A: " + String(repeating: "x", count: 100_000))],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "ten thousand fields", [.line(String(repeating: "X-A: x\r\n", count: 9999) + "X-A: x")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "fields that never end", [.raw("HTTP/1.1 206 OK\r\n"), .end(.repeated(Array("X-A: x\r\n".utf8)))],
          [.root: .unreachable, .frames: .unreachable]),
        // A head without end: it is too long, or the limit of time passes first.
        Row(
          "many fields that never end", [.raw("HTTP/1.1 206 OK\r\n"), .end(.repeated(manyFields))],
          [.root: [.badResponse, .unreachable], .frames: [.badResponse, .unreachable]]),
        Row(
          "a value that never ends", [.raw("HTTP/1.1 206 OK\r\nX-A: "), .end(.repeated(flood))],
          [.root: [.badResponse, .unreachable], .frames: [.badResponse, .unreachable]]),
        Row("a folded field", [.line("X-A: x\r\n y")], [.frames: .badResponse]),
        Row(
          "a folded length", [.without("Content-Length"), .line("Content-Length:\r\n {count}")], [.frames: .badResponse]
        ),
        Row(
          "a folded range", [.without("Content-Range"), .line("Content-Range: bytes\r\n {first}-{last}/{total}")],
          [.frames: .badResponse]),
        Row("a fold at the beginning", [.before("HTTP/1.1 206 OK\r\n X-A: x\r\n")], [.frames: .badResponse]),
        Row("the end within a name", [.raw("HTTP/1.1 206 OK\r\nConte"), .end(.close)], [.frames: .unreachable]),
        Row(
          "the end before the empty line", [.raw("HTTP/1.1 206 OK\r\nContent-Length: 5\r\n"), .end(.close)],
          [.frames: .unreachable]),
        Row("the connection is to be closed", [.line("Connection: close")], [.root: .pulled, .frames: .pulled]),
        Row(
          "the connection is to be upgraded", [.line("Connection: Upgrade"), .line("Upgrade: h2c")], [.frames: .pulled]),
        Row("a cookie", [.line("Set-Cookie: a=b; Path=/")], [.frames: .pulled]),
      ])

    private static let contentLength = RowGroup(
      "Content-Length",
      [
        Row(
          "missing, and the end", [.without("Content-Length"), .end(.close)],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "missing, and nothing more", [.without("Content-Length"), .end(.stall)],
          [.root: .unreachable, .frames: .pulled]),
        Row(
          "missing, and the end too early", [.without("Content-Length"), .cut(-1), .end(.close)],
          [.table: .badResponse, .frames: .badResponse]),
        Row(
          "missing, and bytes that never end", [.without("Content-Length"), .end(.endless)],
          [.frames: .badResponse]),
        Row("empty", [.field("Content-Length", ""), .end(.close)], [.frames: .badResponse]),
        Row("a word", [.field("Content-Length", "many"), .end(.close)], [.frames: .badResponse]),
        Row("-1", [.field("Content-Length", "-1"), .end(.close)], [.root: .badResponse, .frames: .badResponse]),
        Row("-0", [.field("Content-Length", "-0"), .end(.close)], [.frames: .badResponse]),
        Row("with a plus", [.field("Content-Length", "+{count}"), .end(.close)], [.frames: .badResponse]),
        Row("hexadecimal", [.field("Content-Length", "0x{count}"), .end(.close)], [.frames: .badResponse]),
        Row("with a fraction", [.field("Content-Length", "{count}.0"), .end(.close)], [.frames: .badResponse]),
        Row("with an exponent", [.field("Content-Length", "1e3"), .end(.close)], [.frames: .badResponse]),
        Row("with a comma", [.field("Content-Length", "1,000"), .end(.close)], [.frames: .badResponse]),
        Row("a list", [.field("Content-Length", "{count}, {count}"), .end(.close)], [.frames: .badResponse]),
        Row("with zeros before it", [.field("Content-Length", "0000000{count}"), .end(.close)], [.frames: .pulled]),
        Row(
          "with blanks around it", [.field("Content-Length", " \t{count} \t"), .end(.close)], [.frames: .badResponse]),
        Row("with a NUL", [.field("Content-Length", "{count}\0"), .end(.close)], [.frames: .badResponse]),
        Row(
          "10^18 - 1", [.field("Content-Length", "999999999999999999"), .end(.close)],
          [.root: .unreachable, .table: .siteChanged, .frames: .pulled]),
        Row(
          "10^18", [.field("Content-Length", "1000000000000000000"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "2^63 - 1", [.field("Content-Length", "9223372036854775807"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "2^63", [.field("Content-Length", "9223372036854775808"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "2^64 - 1", [.field("Content-Length", "18446744073709551615"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "2^64", [.field("Content-Length", "18446744073709551616"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "of many digits", [.field("Content-Length", String(repeating: "9", count: 400)), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "0", [.field("Content-Length", "0"), .end(.close)],
          [.root: .badResponse, .table: .siteChanged, .frames: .badResponse]),
        Row(
          "one more than there is", [.field("Content-Length", "1{count}"), .end(.close)],
          [.root: .unreachable, .table: .siteChanged, .frames: .pulled]),
        Row(
          "less than there is", [.field("Content-Length", "7")],
          [.root: [.badResponse, .unreachable], .table: .siteChanged, .frames: [.badResponse, .unreachable]]),
        Row("twice the same", [.field("Content-Length", ["{count}", "{count}"])], [.frames: .badResponse]),
        Row(
          "twice, and differing", [.field("Content-Length", ["{count}", "7"])],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "with chunked coding", [.chunked("{size}\r\n{body}\r\n0\r\n\r\n"), .field("Content-Length", "{count}")],
          [.frames: .badResponse]),
        Row(
          "another one with chunked coding",
          [.chunked("{size}\r\n{body}\r\n0\r\n\r\n"), .field("Content-Length", "7")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "with a coding that is none", [.line("Transfer-Encoding: identity"), .end(.close)], [.frames: .badResponse]),
        Row("with an unknown coding", [.line("Transfer-Encoding: gzip"), .end(.close)], [.frames: .badResponse]),
        Row(
          "with chunked as an inner coding", [.line("Transfer-Encoding: chunked, identity"), .end(.close)],
          [.frames: .badResponse]),
      ])

    private static let contentRange = RowGroup(
      "Content-Range",
      [
        Row("missing", [.without("Content-Range")], [.root: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "missing, with status 200", [.status("HTTP/1.1 200 OK"), .without("Content-Range")],
          [.root: .pulled, .frames: .siteChanged]),
        Row("empty", [.field("Content-Range", "")], [.root: .badResponse, .frames: .badResponse]),
        Row("a unit alone", [.field("Content-Range", "bytes")], [.frames: .badResponse]),
        Row("no total", [.field("Content-Range", "bytes {first}-{last}")], [.frames: .badResponse]),
        Row(
          "an empty total", [.field("Content-Range", "bytes {first}-{last}/")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "an unknown total", [.field("Content-Range", "bytes {first}-{last}/*")],
          [.root: .pulled, .frames: .pulled, .rest: .pulled]),
        Row(
          "an unknown range", [.field("Content-Range", "bytes */{total}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row("all unknown", [.field("Content-Range", "bytes */*")], [.frames: .badResponse]),
        Row(
          "no first", [.field("Content-Range", "bytes -{last}/{total}")], [.root: .badResponse, .frames: .badResponse]),
        Row("no last", [.field("Content-Range", "bytes {first}-/{total}")], [.frames: .badResponse]),
        Row(
          "from back to front", [.field("Content-Range", "bytes {last}-{first}/{total}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "a total that is the last", [.field("Content-Range", "bytes {first}-{last}/{last}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "another unit", [.field("Content-Range", "items {first}-{last}/{total}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row("an unit in capitals", [.field("Content-Range", "BYTES {first}-{last}/{total}")], [.frames: .pulled]),
        Row("as it is asked for", [.field("Content-Range", "bytes={first}-{last}/{total}")], [.frames: .badResponse]),
        Row("two blanks", [.field("Content-Range", "bytes  {first}-{last}/{total}")], [.frames: .badResponse]),
        Row("blanks within", [.field("Content-Range", "bytes {first} - {last} / {total}")], [.frames: .badResponse]),
        Row("a plus", [.field("Content-Range", "bytes +{first}-{last}/{total}")], [.frames: .badResponse]),
        Row("hexadecimal", [.field("Content-Range", "bytes 0x{first}-0x{last}/{total}")], [.frames: .badResponse]),
        Row("fractions", [.field("Content-Range", "bytes {first}.0-{last}.0/{total}")], [.frames: .badResponse]),
        Row("a NUL", [.field("Content-Range", "bytes {first}-{last}/{total}\0")], [.frames: .badResponse]),
        Row("digits beyond ASCII", [.field("Content-Range", "bytes \u{b2}-\u{b3}/\u{b9}")], [.frames: .badResponse]),
        Row(
          "almost 10^19", [.field("Content-Range", "bytes 0-9999999999999999998/*")],
          [.root: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "10^18 - 1", [.field("Content-Range", "bytes 0-999999999999999998/999999999999999999")],
          [.root: .badResponse, .frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "10^18", [.field("Content-Range", "bytes {first}-999999999999999999/1000000000000000000")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "2^63 - 1", [.field("Content-Range", "bytes {first}-9223372036854775807/*")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "2^64 - 1", [.field("Content-Range", "bytes {first}-18446744073709551615/*")],
          [.root: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "2^64", [.field("Content-Range", "bytes {first}-{last}/18446744073709551616")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "of many digits", [.field("Content-Range", "bytes {first}-{last}/" + String(repeating: "9", count: 400))],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "a first far beyond", [.field("Content-Range", "bytes 999999999999999997-999999999999999998/*")],
          [.root: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "a first beyond", [.field("Content-Range", "bytes 1{first}-1{last}/1{total}")],
          [.root: .badResponse, .frames: .siteChanged]),
        Row("a first before", [.field("Content-Range", "bytes 0-{last}/{total}")], [.rest: .pulled]),
        Row(
          "a last beyond what was asked for", [.field("Content-Range", "bytes {first}-1{last}/*")],
          [.root: .badResponse, .frames: .pulled, .rest: .pulled]),
        Row(
          "a last before the body's", [.field("Content-Range", "bytes {first}-{first}/*")],
          [.root: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "another total", [.field("Content-Range", "bytes {first}-{last}/1{total}")],
          [.root: .badResponse, .frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "the largest total", [.field("Content-Range", "bytes {first}-{last}/999999999999999999")],
          [.root: .badResponse, .frames: .siteChanged]),
        Row(
          "two that differ", [.field("Content-Range", ["bytes {first}-{last}/{total}", "bytes 0-1/2"])],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "two, the first wrong", [.field("Content-Range", ["bytes 1-1/2", "bytes {first}-{last}/{total}"])],
          [.root: .badResponse, .frames: .siteChanged]),
        Row("a list", [.field("Content-Range", "bytes {first}-{last}/{total}, bytes 0-1/2")], [.frames: .badResponse]),
        Row("of another place's bytes", [.body(.backwards)], [.frames: .corrupt, .rest: .corrupt]),
        Row("for the whole of a file", [.status("HTTP/1.1 200 OK")], [.root: .pulled, .frames: .siteChanged]),
        Row(
          "where none was asked for",
          [.status("HTTP/1.1 206 OK"), .field("Content-Range", "bytes {first}-{last}/{total}")],
          [.manifest: .pulled, .table: .pulled]),
        Row(
          "in status 200 where none was asked for", [.field("Content-Range", "bytes 5-9/10")],
          [.manifest: .pulled, .table: .pulled]),
      ])

    private static let multipart = RowGroup(
      "multipart/byteranges",
      [
        Row(
          "one part",
          [.without("Content-Range"), .line("Content-Type: multipart/byteranges; boundary=b"), .bodyText(onePart)],
          [.root: .corrupt, .frames: .siteChanged]),
        Row(
          "one part of the right length",
          [
            .without("Content-Range"), .line("Content-Type: multipart/byteranges; boundary=b"),
            .body(.beginning(onePart)),
          ], [.frames: .siteChanged]),
        Row(
          "with a range as well",
          [.line("Content-Type: multipart/byteranges; boundary=b"), .body(.beginning(onePart))], [.frames: .corrupt]),
        Row(
          "without a boundary", [.without("Content-Range"), .line("Content-Type: multipart/byteranges")],
          [.frames: .badResponse]),
        Row(
          "in name alone", [.line("Content-Type: multipart/byteranges; boundary=b")],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "parts that never end",
          [
            .without("Content-Range"), .without("Content-Length"),
            .line("Content-Type: multipart/byteranges; boundary=b"), .end(.endless),
          ], [.frames: .badResponse]),
      ])

    private static let chunkedCoding = RowGroup(
      "chunked coding",
      [
        Row("one chunk", [.chunked("{size}\r\n{body}\r\n0\r\n\r\n")], [.root: .pulled, .frames: .pulled]),
        Row(
          "one chunk, and the end without a mark", [.chunked("{size}\r\n{body}\r\n"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row("one chunk, and nothing more", [.chunked("{size}\r\n{body}\r\n"), .end(.stall)], [.frames: .pulled]),
        Row(
          "one chunk, and chunks that never end", [.chunked("{size}\r\n{body}\r\n"), .end(.endless)],
          [.frames: .badResponse]),
        Row(
          "a size of 15 digits", [.chunked("7fffffffffffff0\r\n{body}"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "a size of 2^63 - 1", [.chunked("7fffffffffffffff\r\n{body}"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "a size of 2^63", [.chunked("8000000000000000\r\n{body}"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "a size of 2^64 - 1", [.chunked("ffffffffffffffff\r\n{body}"), .end(.close)],
          [.root: .unreachable, .table: .pulled, .frames: .pulled]),
        Row(
          "a size of 2^64", [.chunked("10000000000000000\r\n{body}"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "a size of many digits", [.chunked(String(repeating: "f", count: 400) + "\r\n{body}"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "a size with zeros before it", [.chunked("00000000000000000000{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.frames: .pulled]),
        Row("a size of -1", [.chunked("-1\r\n{body}"), .end(.close)], [.frames: .badResponse]),
        Row("a size with a plus", [.chunked("+{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .badResponse]),
        Row("a size with 0x", [.chunked("0x{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .badResponse]),
        Row(
          "a size that is no number", [.chunked("many\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row("no size", [.chunked("\r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .badResponse]),
        Row(
          "a blank before the size", [.chunked(" {size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .badResponse]
        ),
        Row(
          "a blank after the size", [.chunked("{size} \r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .badResponse]),
        Row(
          "a size that is too small", [.chunked("3\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "a size that is too large", [.chunked("1{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.root: .unreachable, .frames: .badResponse]),
        Row(
          "an empty chunk first", [.chunked("0\r\n\r\n{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.root: [.badResponse, .unreachable], .frames: [.badResponse, .unreachable]]),
        Row(
          "no line end after a chunk", [.chunked("{size}\r\n{body}0\r\n\r\n"), .end(.close)], [.frames: .badResponse]),
        Row(
          "lines that end with LF alone", [.chunked("{size}\n{body}\n0\n\n"), .end(.close)], [.frames: .badResponse]),
        Row("no line end at the end", [.chunked("{size}\r\n{body}\r\n0\r\n"), .end(.close)], [.frames: .pulled]),
        Row("an extension", [.chunked("{size};a=b\r\n{body}\r\n0\r\n\r\n")], [.frames: .pulled]),
        Row(
          "an extension of 100 KB",
          [.chunked("{size};a=" + String(repeating: "b", count: 100_000) + "\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.frames: .pulled]),
        Row(
          "an extension that never ends", [.chunked("{size};a="), .end(.repeated(flood))],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "an extension with a NUL", [.chunked("{size};a=\0\r\n{body}\r\n0\r\n\r\n"), .end(.close)],
          [.frames: .badResponse]),
        Row("a trailer", [.chunked("{size}\r\n{body}\r\n0\r\nX-A: x\r\n\r\n")], [.frames: .pulled]),
        Row(
          "a trailer with another range", [.chunked("{size}\r\n{body}\r\n0\r\nContent-Range: bytes 0-1/2\r\n\r\n")],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "a trailer of 100 KB",
          [
            .chunked("{size}\r\n{body}\r\n0\r\nX-A: " + String(repeating: "x", count: 100_000) + "\r\n\r\n"),
            .end(.close),
          ], [.frames: .pulled]),
        Row(
          "a trailer that never ends", [.chunked("{size}\r\n{body}\r\n0\r\nX-A: "), .end(.repeated(flood))],
          [.root: .badResponse, .frames: .pulled]),
        Row("a trailer that ends early", [.chunked("{size}\r\n{body}\r\n0\r\nX-A"), .end(.close)], [.frames: .pulled]),
        Row(
          "a chunk too many", [.chunked("{size}\r\n{body}\r\n1\r\nx\r\n0\r\n\r\n")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "twice the coding",
          [.chunked("{size}\r\n{body}\r\n0\r\n\r\n"), .line("Transfer-Encoding: chunked"), .end(.close)],
          [.frames: .pulled]),
        Row(
          "an inner coding",
          [.chunked("{size}\r\n{body}\r\n0\r\n\r\n"), .field("Transfer-Encoding", "gzip, chunked"), .end(.close)],
          [.frames: .pulled]),
        Row(
          "of an earlier version",
          [.status("HTTP/1.0 206 OK"), .chunked("{size}\r\n{body}\r\n0\r\n\r\n"), .end(.close)], [.frames: .pulled]),
      ])

    private static let encodings = RowGroup(
      "Content-Encoding",
      [
        Row("identity", [.field("Content-Encoding", "identity")], [.root: .pulled, .frames: .pulled]),
        Row(
          "Identity, identity", [.field("Content-Encoding", "Identity, identity")], [.root: .pulled, .frames: .pulled]),
        Row("empty", [.field("Content-Encoding", "")], [.root: .pulled, .frames: .pulled]),
        Row(
          "two fields", [.field("Content-Encoding", ["identity", "br"])], [.root: .badResponse, .frames: .badResponse]),
        Row(
          "gzip, once", [.field("Content-Encoding", "gzip")], [.root: .badResponse, .frames: .badResponse], once: true),
        Row(
          "gzip that is not said", [.body(.beginning("\u{1f}\u{8b}\u{8}\0\0\0\0\0\0\u{3}"))],
          [.root: .corrupt, .frames: .corrupt]),
      ],
      more: [
        "gzip", "br", "zstd", "deflate", "compress", "aws-chunked", "GZIP", "identity, gzip", "gzip, identity",
        "unknown",
        "\u{fc}",
      ].map { (value: String) -> Row in
        Row(value, [.field("Content-Encoding", value)], [.root: .badResponse, .frames: .badResponse])
      })

    // MARK: - Redirections

    private static let redirects = RowGroup(
      "redirect",
      [
        Row(
          "to itself", [.status("HTTP/1.1 302 Found"), .line("Location: /site/{path}")],
          [.root: .badResponse, .manifest: .badResponse, .frames: .badResponse]),
        Row(
          "to itself, with a query", [.status("HTTP/1.1 302 Found"), .line("Location: ?a")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "to itself, once, by 301", [.status("HTTP/1.1 301 Moved"), .line("Location: /site/{path}")],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .frames: .pulled], once: true),
        Row(
          "to itself, once, by 303", [.status("HTTP/1.1 303 See Other"), .line("Location: /site/{path}")],
          [.frames: .pulled], once: true),
        Row(
          "to itself, once, by 307", [.status("HTTP/1.1 307 Moved"), .line("Location: /site/{path}")],
          [.frames: .pulled],
          once: true),
        Row(
          "to itself, once, by 308", [.status("HTTP/1.1 308 Moved"), .line("Location: /site/{path}")],
          [.frames: .pulled],
          once: true),
        Row(
          "to itself, once, by a whole URL",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://{host}:{port}/site/{path}#a")],
          [.root: .pulled, .frames: .pulled], once: true),
        Row(
          "to itself, once, by dots", [.status("HTTP/1.1 302 Found"), .line("Location: /a/b/../.././site/./{path}")],
          [.root: .pulled, .frames: .pulled], once: true),
        Row(
          "to itself, once, without a scheme",
          [.status("HTTP/1.1 302 Found"), .line("Location: //{host}:{port}/site/{path}")],
          [.root: .pulled, .frames: .pulled], once: true),
        Row(
          "to itself, once, with a body that never ends",
          [.status("HTTP/1.1 302 Found"), .without("Content-Length"), .line("Location: /site/{path}"), .end(.endless)],
          [.root: .pulled, .frames: .pulled], once: true),
        Row(
          "to itself, once, with a body that never comes",
          [.status("HTTP/1.1 302 Found"), .line("Location: /site/{path}"), .cut(-1), .end(.stall)],
          [.root: .pulled, .frames: .pulled], once: true),
        Row(
          "without a place", [.status("HTTP/1.1 302 Found")],
          [.root: .badResponse, .manifest: .badResponse, .frames: .badResponse]),
        Row("without a place, once", [.status("HTTP/1.1 302 Found")], [.frames: .badResponse], once: true),
        Row(
          "to an empty place", [.status("HTTP/1.1 302 Found"), .line("Location: ")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "to two places",
          [.status("HTTP/1.1 302 Found"), .line("Location: /nowhere"), .line("Location: /site/{path}")],
          [.root: .noSite, .frames: .siteChanged]),
        Row(
          "to a place of 100 KB",
          [.status("HTTP/1.1 302 Found"), .line("Location: /" + String(repeating: "x", count: 100_000))],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "to a file that is not there", [.status("HTTP/1.1 302 Found"), .line("Location: /site/nowhere")],
          [.root: .noSite, .frames: .siteChanged]),
        Row(
          "to another file", [.status("HTTP/1.1 302 Found"), .line("Location: /site/root")],
          [.manifest: .siteChanged, .table: .siteChanged, .frames: .siteChanged]),
        Row(
          "to a folder that is not there", [.status("HTTP/1.1 302 Found"), .line("Location: /nowhere/{path}")],
          [.root: .noSite, .manifest: .siteChanged, .table: .siteChanged, .frames: .siteChanged]),
        Row(
          "to a folder that is not there, once", [.status("HTTP/1.1 302 Found"), .line("Location: /nowhere/{path}")],
          [.root: .noSite, .manifest: .pulled, .table: .pulled, .frames: .pulled], once: true),
        Row(
          "to a server of its own, that lacks the rest",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://{host}:{port}/elsewhere/{path}")],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .pages: .pulled, .frames: .pulled]),
        Row(
          "to a closed port",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://{host}:1/site/{path}")],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "to a closed port, once",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://{host}:1/site/{path}")],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .frames: .pulled], once: true),
        Row(
          "to TLS where there is none",
          [.status("HTTP/1.1 302 Found"), .line("Location: https://{host}:{port}/site/{path}")],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "by 300", [.status("HTTP/1.1 300 Multiple Choices"), .line("Location: /site/{path}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "by 304", [.status("HTTP/1.1 304 Not Modified"), .line("Location: /site/{path}")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "by 305", [.status("HTTP/1.1 305 Use Proxy"), .line("Location: http://{host}:1/")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "by 306", [.status("HTTP/1.1 306 Unused"), .line("Location: /site/{path}")],
          [.root: .badResponse, .frames: .badResponse]),
      ])

    /// Places that no redirection leads to: invalid URLs, other schemes, and private networks.
    private static let refusedRedirects = RowGroup(
      "redirect to",
      [
        "http://", "http:///", "http:", "://", "//", "http://?", "http://#", "http://:80/", "http://{host}:0/",
        "http://{host}:-1/", "http://{host}:65536/", "http://{host}:70000/", "http://{host}:4294967296/",
        "http://{host}:99999999999999999999/", "http://{host}:18446744073709551616/", "http://{host}:8x/",
        "//{host}:65536/", "//[::1]:65536/", "file:///etc/passwd", "file:/etc/passwd", "ftp://{host}/", "data:,root",
        "javascript:alert(1)", "gopher://{host}/", "unix:/var/run/docker.sock", "mailto:a@b", "ws://{host}/",
        "http+unix://%2Ftmp/", "http://user@{host}:{port}/site/root", "http://user:secret@{host}:{port}/site/root",
        "http://@{host}:{port}/", "http://:@{host}:{port}/", "http://{host}:{port}@127.0.0.1:{private}/site/root",
        "http://a b/", "http://a\tb/", "http://a%0d%0aHost:%20b/", "http://a%00b/", "http://a%20b/", "http://a%2fb/",
        "http://a%40b/", "http://a\\b/", "http:\\\\127.0.0.1:{private}\\", "\\\\127.0.0.1:{private}\\site\\root",
        "http://\u{fc}/", "http://[::1", "http://::1]/", "http://[]/", "http://[zz]/", "http://[::1]x/",
        "http://[1.2.3.4]/", "http://[::1]:{private}/", "http://[0:0:0:0:0:0:0:1]:{private}/",
        "http://[::ffff:127.0.0.1]:{private}/site/root", "http://[::ffff:7f00:1]:{private}/site/root",
        "http://[::127.0.0.1]:{private}/", "http://[fe80::1%25lo]:{private}/", "http://[fe80::1]/", "http://[fd00::1]/",
        "http://[64:ff9b::7f00:1]/", "http://[::]:{private}/site/root", "http://127.0.0.1:{private}/site/root",
        "http://127.1:{private}/site/root", "http://127.0.1:{private}/site/root",
        "http://2130706433:{private}/site/root", "http://0x7f000001:{private}/site/root",
        "http://0x7f.1:{private}/site/root", "http://017700000001:{private}/site/root",
        "http://0177.0.0.1:{private}/site/root", "http://%31%32%37.0.0.1:{private}/site/root",
        "http://0:{private}/site/root", "http://0.0.0.0:{private}/site/root", "http://localhost:{private}/site/root",
        "http://LOCALHOST:{private}/site/root", "http://a.localhost:{private}/site/root", "http://10.0.0.1/",
        "http://172.16.0.1/", "http://192.168.0.1/", "http://100.64.0.1/", "http://169.254.169.254/latest/meta-data/",
        "http://224.0.0.1/", "http://255.255.255.255/",
      ].map { (place: String) -> Row in
        Row(place, [.status("HTTP/1.1 302 Found"), .line("Location: \(place)")], [.root: .badResponse])
      },
      more: [
        "http://{host}:65536/", "file:///etc/passwd", "http://127.0.0.1:{private}/site/{path}",
        "http://user:secret@{host}:{port}/site/{path}",
      ].map { (place: String) -> Row in
        Row(
          "\(place), by a file", [.status("HTTP/1.1 307 Moved"), .line("Location: \(place)")],
          [.manifest: .badResponse, .table: .badResponse, .frames: .badResponse])
      })

    private static let interim = RowGroup(
      "interim answer",
      [
        Row("one 100", [.before("HTTP/1.1 100 Continue\r\n\r\n")], [.root: .pulled, .frames: .pulled]),
        Row("one 102", [.before("HTTP/1.1 102 Processing\r\n\r\n")], [.frames: .pulled]),
        Row("one 103", [.before("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")], [.frames: .pulled]),
        Row("one 199", [.before("HTTP/1.1 199 X\r\n\r\n")], [.frames: .pulled]),
        Row(
          "a thousand", [.before(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 1000))],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "without end", [.raw(""), .end(.repeated(Array("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n".utf8)))],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "one, and the end", [.raw("HTTP/1.1 100 Continue\r\n\r\n"), .end(.close)],
          [.root: .unreachable, .frames: .unreachable]),
        Row(
          "one with a length", [.before("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n"), .end(.close)],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "one with a body", [.before("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nhello"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "one with another range", [.before("HTTP/1.1 103 Early Hints\r\nContent-Range: bytes 0-1/2\r\n\r\n")],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "101", [.status("HTTP/1.1 101 Switching Protocols"), .line("Upgrade: h2c"), .line("Connection: Upgrade")],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "101, and the end",
          [.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
        Row(
          "101 before the answer",
          [.before("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), .end(.close)],
          [.root: .badResponse, .frames: .badResponse]),
      ])

    // MARK: - Validators

    private static let validators = RowGroup(
      "state",
      [
        Row("another tag", [.field("ETag", "\"other\"")], [.frames: .pulled, .rest: .pulled]),
        Row("another tag, once", [.field("ETag", "\"other\"")], [.rest: .pulled], once: true),
        Row("no tag any more", [.without("ETag")], [.rest: .pulled]),
        Row("a weak tag now", [.field("ETag", "W/\"weak\"")], [.rest: .pulled]),
        Row("an empty tag", [.field("ETag", "")], [.frames: .pulled, .rest: .pulled]),
        Row("a tag without quotes", [.field("ETag", "tag")], [.frames: .pulled, .rest: .pulled]),
        Row("half a tag", [.field("ETag", "\"")], [.frames: .pulled, .rest: .pulled]),
        Row(
          "a tag with a NUL", [.field("ETag", "\"a\0b\"")],
          [.table: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "a tag with a control character", [.field("ETag", "\"a\u{1}b\"")],
          [.table: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row("a tag with a tab", [.field("ETag", "\"a\tb\"")], [.table: .pulled, .frames: .pulled, .rest: .pulled]),
        Row(
          "a tag beyond ASCII", [.field("ETag", "\"\u{fc}\u{ff}\"")],
          [.table: .pulled, .frames: .pulled, .rest: .pulled]),
        Row(
          "a tag with DEL", [.field("ETag", "\"\u{7f}\"")],
          [.table: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "a tag of 60 KB", [.field("ETag", "\"" + String(repeating: "x", count: 60_000) + "\"")],
          [.frames: .pulled, .rest: .pulled]),
        Row("two tags", [.field("ETag", ["\"a\"", "\"b\""])], [.frames: .pulled, .rest: .pulled]),
        Row(
          "another date of change", [.without("ETag"), .field("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")],
          [.frames: .pulled, .rest: .pulled]),
        Row(
          "a date of change that is none", [.without("ETag"), .field("Last-Modified", "\u{1}\u{fc}")],
          [.table: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "a date long ago", [.field("Date", "Thu, 01 Jan 1970 00:00:00 GMT")],
          [.root: .pulled, .frames: .pulled, .rest: .pulled]),
        Row(
          "a date far ahead", [.field("Date", "Fri, 31 Dec 9999 23:59:59 GMT")],
          [.root: .pulled, .frames: .pulled, .rest: .pulled]),
        Row("an age", [.field("Age", "99999999999999999999")], [.root: .pulled, .frames: .pulled]),
        Row(
          "another tag, and all of the file",
          [.status("HTTP/1.1 200 OK"), .without("Content-Range"), .field("ETag", "\"other\"")],
          [.frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "the same tag, and all of the file", [.status("HTTP/1.1 200 OK"), .without("Content-Range")],
          [.frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "the same tag, and other bytes", [.body(.flipped)],
          [.table: .corrupt, .pages: .corrupt, .frames: .corrupt, .rest: .corrupt]),
        Row(
          "the same tag, and other bytes, once", [.body(.flipped)],
          [.table: .pulled, .pages: .pulled, .frames: .pulled, .rest: .pulled], once: true),
        Row(
          "412", [.status("HTTP/1.1 412 Precondition Failed")],
          [.root: .denied, .table: .siteChanged, .frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "412, once", [.status("HTTP/1.1 412 Precondition Failed")],
          [.table: .pulled, .frames: .pulled, .rest: .pulled],
          once: true),
        Row(
          "304", [.status("HTTP/1.1 304 Not Modified"), .field("Content-Length", "0"), .bodyText("")],
          [.root: .badResponse, .table: .badResponse, .frames: .badResponse, .rest: .badResponse]),
        Row(
          "416", [.status("HTTP/1.1 416 Range Not Satisfiable"), .field("Content-Range", "bytes */{total}")],
          [.root: .denied, .table: .denied, .frames: .siteChanged, .rest: .siteChanged]),
        Row(
          "416, once", [.status("HTTP/1.1 416 Range Not Satisfiable"), .field("Content-Range", "bytes */{total}")],
          [.frames: .pulled, .rest: .pulled], once: true),
        Row(
          "416 with another length",
          [.status("HTTP/1.1 416 Range Not Satisfiable"), .field("Content-Range", "bytes */1")],
          [.frames: .siteChanged, .rest: .siteChanged]),
      ])

    // MARK: - Statuses

    private static let statuses = RowGroup(
      "status",
      [
        Row(
          "200 in place of 206", [.status("HTTP/1.1 200 OK"), .without("Content-Range")],
          [.root: .pulled, .newestFrames: .siteChanged, .rest: .siteChanged]),
        Row(
          "200 with the beginning alone",
          [.status("HTTP/1.1 200 OK"), .without("Content-Range"), .body(.first(100)), .field("Content-Length", "100")],
          [.root: .corrupt, .manifest: .siteChanged, .table: .siteChanged, .frames: .siteChanged]),
        Row(
          "206 in place of 200", [.status("HTTP/1.1 206 Partial Content")],
          [.manifest: .badResponse, .table: .badResponse]),
        Row(
          "204", [.status("HTTP/1.1 204 No Content"), .bodyText(""), .without("Content-Length")],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .frames: .badResponse]),
        Row(
          "204 with a body", [.status("HTTP/1.1 204 No Content")],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .frames: .badResponse]),
        Row(
          "205", [.status("HTTP/1.1 205 Reset Content"), .bodyText(""), .field("Content-Length", "0")],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .frames: .badResponse]),
        Row("205 with a body", [.status("HTTP/1.1 205 Reset Content")], [.root: .badResponse, .frames: .badResponse]),
        Row(
          "304 with a body", [.status("HTTP/1.1 304 Not Modified")],
          [.root: .badResponse, .table: .badResponse, .frames: .badResponse]),
        Row(
          "404 for the site", [.status("HTTP/1.1 404 Not Found")],
          [.root: .noSite, .manifest: .siteChanged, .table: .siteChanged, .frames: .siteChanged]),
        Row(
          "404 once", [.status("HTTP/1.1 404 Not Found")],
          [.root: .noSite, .manifest: .pulled, .table: .pulled, .frames: .pulled], once: true),
        Row(
          "410 for the site", [.status("HTTP/1.1 410 Gone")],
          [.root: .noSite, .manifest: .siteChanged, .table: .siteChanged, .frames: .siteChanged]),
        Row(
          "410 once", [.status("HTTP/1.1 410 Gone")], [.manifest: .pulled, .table: .pulled, .frames: .pulled],
          once: true),
        Row("201", [.status("HTTP/1.1 201 Created")], [.root: .badResponse, .frames: .badResponse]),
        Row("202", [.status("HTTP/1.1 202 Accepted")], [.root: .badResponse, .frames: .badResponse]),
        Row("203", [.status("HTTP/1.1 203 Transformed")], [.root: .badResponse, .frames: .badResponse]),
        Row("207", [.status("HTTP/1.1 207 Multi-Status")], [.root: .badResponse, .frames: .badResponse]),
        Row("226", [.status("HTTP/1.1 226 IM Used")], [.root: .badResponse, .frames: .badResponse]),
        Row("299", [.status("HTTP/1.1 299 X")], [.root: .badResponse, .frames: .badResponse]),
      ],
      more: [
        400, 401, 402, 403, 405, 406, 407, 409, 411, 413, 414, 415, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451,
        499,
      ].map { (status: Int) -> Row in
        Row("\(status)", [.status("HTTP/1.1 \(status) Some Reason")], [.root: .denied])
      })

    private static let transientStatuses = RowGroup(
      "status that may pass",
      [408, 425, 429, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 599].flatMap { (status: Int) -> [Row] in
        [
          Row("\(status)", [.status("HTTP/1.1 \(status) Some Reason")], [.root: .unreachable, .frames: .unreachable]),
          Row(
            "\(status), once", [.status("HTTP/1.1 \(status) Some Reason")],
            [.frames: .pulled], once: true),
        ]
      },
      more: [
        Row(
          "503 once, elsewhere", [.status("HTTP/1.1 503 Busy")],
          [.manifest: .pulled, .table: .pulled, .pages: .pulled, .rest: .pulled], once: true)
      ])

    private static let retryAfter = RowGroup(
      "Retry-After",
      waits(
        "waits",
        [
          "-1", "-9223372036854775808", "+1", "0", "1", "120", "1.5", "1e9", "0x10", "soon", "", "1, 2", "\u{b2}",
          "Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 0000 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Foo 1994 08:49:37 GMT",
          "Sun, 99 Nov 9999 99:99:99 GMT",
        ], .pulled)
        + waits(
          "gives up",
          [
            "121", "4294967295", "4294967296", "9223372036854775807", "18446744073709551616",
            "Fri, 31 Dec 9999 23:59:59 GMT",
          ], .unreachable),
      more: [
        Row(
          "a date without the server's own",
          [.status("HTTP/1.1 503 Busy"), .field("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")],
          [.frames: .unreachable]),
        Row(
          "a date by a clock that is none",
          [
            .status("HTTP/1.1 503 Busy"), .field("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"),
            .field("Date", "yesterday"),
          ], [.frames: .unreachable]),
        Row("twice", [.status("HTTP/1.1 503 Busy"), .field("Retry-After", ["0", "86400"])], [.frames: .unreachable]),
      ])

    /// Servers that ask a pull to come back later, once or always.
    private static func waits(_ what: String, _ values: [String], _ outcome: Outcome) -> [Row] {
      values.flatMap { value in
        let edits: [Edit] = [
          .status("HTTP/1.1 503 Busy"), .field("Retry-After", value), .field("Date", "Sun, 06 Nov 1994 08:49:30 GMT"),
        ]
        return [
          Row("\(what) for '\(value)'", edits, [.root: .unreachable]),
          Row("\(what) for '\(value)', once", edits, [.frames: outcome], once: true),
        ]
      }
    }

    // MARK: - Time

    private static let pace = RowGroup(
      "pace",
      [
        Row(
          "one byte a second", [.end(.drip(1))],
          [.root: .unreachable, .manifest: .unreachable, .table: .unreachable, .frames: .unreachable]),
        Row("one byte a second, once", [.end(.drip(1))], [.frames: .pulled], once: true),
        Row(
          "a head that takes too long", [.line("X-A: " + String(repeating: "x", count: 3000)), .end(.drip(50))],
          [.root: .unreachable, .frames: .unreachable]),
        Row("a hundred bytes a second", [.end(.drip(100))], [.root: .pulled, .newestFrames: .unreachable]),
        Row(
          "half of a body, and nothing more", [.cutBody(0.5), .end(.stall)],
          [.root: .unreachable, .manifest: .unreachable, .table: .unreachable, .newestFrames: .unreachable]),
        Row(
          "half of a body, and nothing more, once", [.cutBody(0.5), .end(.stall)],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .pages: .pulled, .newestFrames: .pulled], once: true),
        Row(
          "a head, and nothing more", [.cutBody(0), .end(.stall)],
          [.root: .unreachable, .table: .unreachable, .newestFrames: .unreachable]),
        Row(
          "half of a head, and nothing more", [.cut(20), .end(.stall)],
          [.root: .unreachable, .table: .unreachable, .newestFrames: .unreachable]),
        Row(
          "half of a head, and nothing more, once", [.cut(20), .end(.stall)],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .pages: .pulled, .newestFrames: .pulled], once: true),
        Row(
          "a length, and bytes that never end", [.end(.endless)],
          [.manifest: .pulled, .table: .pulled, .pages: .pulled, .newestFrames: .pulled]),
        Row(
          "metadata that never ends", [.without("Content-Length"), .end(.endless)],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse]),
        Row(
          "metadata in chunks that never end", [.chunked("{size}\r\n{body}\r\n"), .end(.endless)],
          [.root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse]),
        Row(
          "slow chunks that never end", [.chunked("{size}\r\n{body}\r\n"), .end(.repeated(Array("1\r\nx\r\n".utf8)))],
          [
            .root: .unreachable, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse,
            .newestFrames: .badResponse,
          ]),
      ])

    // MARK: - Connections that break

    private static let breaks = RowGroup("break, once", cuts(once: true))
    private static let repeatedBreaks = RowGroup("break", cuts(once: false))

    private static func cuts(once: Bool) -> [Row] {
      cuts("closed", .close, once: once) + cuts("reset", .reset, once: once)
    }

    private static func cuts(_ name: String, _ end: FaultServer.Reply.End, once: Bool) -> [Row] {
      let broken: Outcome = once ? .pulled : .unreachable
      // A reset can discard sent bytes.
      let whole: Outcome = once || end == .close ? .pulled : [.pulled, .unreachable]
      return [
        Row("\(name) within the version", [.cut(5), .end(end)], [.root: broken, .newestFrames: broken], once: once),
        Row("\(name) within the status", [.cut(11), .end(end)], [.newestFrames: broken], once: once),
        Row("\(name) after the status line", [.cut(26), .end(end)], [.newestFrames: broken], once: once),
        Row("\(name) between CR and LF", [.cut(25), .end(end)], [.newestFrames: broken], once: once),
        Row("\(name) within a field", [.cut(33), .end(end)], [.root: broken, .newestFrames: broken], once: once),
        Row(
          "\(name) after the head", [.cutBody(0), .end(end)], [.root: broken, .table: broken, .newestFrames: broken],
          once: once),
        Row("\(name) after a byte", [.cutBody(0.0001), .end(end)], [.newestFrames: broken], once: once),
        Row(
          "\(name) in the middle", [.cutBody(0.5), .end(end)],
          [.root: broken, .manifest: broken, .table: broken, .pages: broken, .newestFrames: broken, .rest: broken],
          once: once
        ),
        Row(
          "\(name) before the last byte", [.cut(-1), .end(end)],
          [.root: broken, .manifest: broken, .table: broken, .pages: broken, .newestFrames: broken, .rest: broken],
          once: once
        ),
        Row(
          "\(name) after the last byte", [.end(end)],
          [.root: whole, .manifest: whole, .table: whole, .pages: whole, .newestFrames: whole, .rest: whole], once: once
        ),
      ]
    }

    // MARK: - Bytes

    private static let bodies = RowGroup(
      "body",
      [
        Row(
          "the first byte is wrong", [.body(.flip(0))],
          [
            .root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt,
            .rest: .corrupt,
          ]),
        Row(
          "the last byte is wrong", [.body(.flip(-1))],
          [
            .root: .badSignature, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt,
            .rest: .corrupt,
          ]),
        Row(
          "the first byte is wrong, once", [.body(.flip(0))],
          [.root: .corrupt, .manifest: .pulled, .table: .pulled, .pages: .pulled, .frames: .pulled, .rest: .pulled],
          once: true),
        Row(
          "zeros", [.body(.all(0))],
          [
            .root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt,
            .rest: .corrupt,
          ]),
        Row(
          "ones", [.body(.all(0xff))],
          [.root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt]),
        Row(
          "from back to front", [.body(.backwards)],
          [.root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt]),
        Row(
          "turned by one", [.body(.turned)],
          [.root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt]),
        Row(
          "by chance", [.body(.chance)],
          [.root: .corrupt, .manifest: .corrupt, .table: .corrupt, .pages: .corrupt, .frames: .corrupt]),
        Row(
          "a page to log in at",
          [
            .status("HTTP/1.1 200 OK"), .without("Content-Range"), .without("ETag"), .line("Content-Type: text/html"),
            .field("Content-Length", "\(page.utf8.count)"), .bodyText(page),
          ],
          [
            .root: .badResponse, .manifest: .siteChanged, .table: .siteChanged, .pages: .siteChanged,
            .frames: .siteChanged,
          ]),
        Row(
          "a page to log in at, once",
          [
            .status("HTTP/1.1 200 OK"), .without("Content-Range"), .without("ETag"), .line("Content-Type: text/html"),
            .field("Content-Length", "\(page.utf8.count)"), .bodyText(page),
          ], [.root: .badResponse, .manifest: .pulled, .table: .pulled, .pages: .pulled, .frames: .pulled], once: true),
        Row(
          "a page to log in at, of unknown length",
          [
            .status("HTTP/1.1 200 OK"), .without("Content-Range"), .without("Content-Length"), .without("ETag"),
            .bodyText(page), .end(.close),
          ],
          [
            .root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse,
            .frames: .badResponse,
          ]),
        Row(
          "nothing", [.bodyText(""), .field("Content-Length", "0")],
          [
            .root: .badResponse, .manifest: .siteChanged, .table: .siteChanged, .pages: .badResponse,
            .frames: .badResponse,
          ]),
        Row(
          "nothing, once", [.bodyText(""), .field("Content-Length", "0")],
          [.root: .pulled, .manifest: .pulled, .table: .pulled, .pages: .pulled, .frames: .pulled], once: true),
        Row(
          "half, and that is said to be all",
          [
            .without("Content-Range"), .status("HTTP/1.1 200 OK"), .body(.half), .without("Content-Length"),
            .end(.close),
          ], [.root: .badSignature, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse]),
        Row(
          "a byte too few", [.body(.first(-1)), .without("Content-Length"), .end(.close)],
          [
            .root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse,
            .frames: .badResponse,
          ]),
        Row(
          "a byte too many", [.body(.and("\0")), .without("Content-Length"), .end(.close)],
          [
            .root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse,
            .frames: .badResponse,
          ]),
        Row(
          "twice", [.body(.twice), .without("Content-Length"), .end(.close)],
          [
            .root: .badResponse, .manifest: .badResponse, .table: .badResponse, .pages: .badResponse,
            .frames: .badResponse,
          ]),
        Row(
          "a line end too many, as said", [.body(.and("\r\n")), .field("Content-Length", "2{count}"), .end(.close)],
          [.root: .unreachable, .table: .siteChanged, .frames: .badResponse]),
      ])

    private static let afterTheEnd = RowGroup(
      "after the end",
      [
        Row("a byte", [.body(.and("\0"))], [.root: .pulled, .frames: .pulled]),
        Row("an empty line", [.body(.and("\r\n"))], [.root: .pulled, .frames: .pulled]),
        Row(
          "another answer", [.body(.and("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"))],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "a refusal", [.body(.and("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "a redirection", [.body(.and("HTTP/1.1 302 Found\r\nLocation: /nowhere\r\nContent-Length: 0\r\n\r\n"))],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "an interim answer", [.body(.and("HTTP/1.1 100 Continue\r\n\r\n"))],
          [.root: .pulled, .frames: .pulled]),
        Row("bytes by chance", [.body(.and(chance))], [.root: .pulled, .frames: .pulled]),
        Row(
          "bytes that never end", [.body(.and("\0")), .end(.endless)],
          [.frames: .pulled]),
        Row(
          "a byte after the last chunk", [.chunked("{size}\r\n{body}\r\n0\r\n\r\nx")],
          [.root: .pulled, .frames: .pulled]),
        Row(
          "an answer after the last chunk",
          [.chunked("{size}\r\n{body}\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")],
          [.root: .pulled, .frames: .pulled]),
      ])

    // MARK: - Deltas, and servers without ranges

    private static let deltas = RowGroup(
      "delta",
      [
        Row("wrong bytes", [.body(.flipped)], [.delta: .pulled]),
        Row("wrong bytes, once", [.body(.flipped)], [.delta: .pulled], once: true),
        Row("a wrong last byte", [.body(.flip(-1))], [.delta: .pulled]),
        Row("nothing", [.bodyText(""), .field("Content-Length", "0")], [.delta: .pulled]),
        Row("404", [.status("HTTP/1.1 404 Not Found")], [.delta: .pulled]),
        Row("403", [.status("HTTP/1.1 403 Forbidden")], [.delta: .pulled]),
        Row("416", [.status("HTTP/1.1 416 Range Not Satisfiable")], [.delta: .pulled]),
        Row("200 in place of 206", [.status("HTTP/1.1 200 OK"), .without("Content-Range")], [.delta: .pulled]),
        Row("500", [.status("HTTP/1.1 500 Some Reason")], [.delta: .unreachable]),
        Row("500, once", [.status("HTTP/1.1 500 Some Reason")], [.delta: .pulled], once: true),
        Row("gzip", [.field("Content-Encoding", "gzip")], [.delta: .pulled]),
        Row("another range", [.field("Content-Range", "bytes 0-999999999999999998/*")], [.delta: .pulled]),
        Row("another length", [.field("Content-Range", "bytes {first}-{last}/1{total}")], [.delta: .pulled]),
        Row(
          "a redirection that never ends", [.status("HTTP/1.1 302 Found"), .line("Location: /site/{path}")],
          [.delta: .pulled]),
        Row(
          "a redirection to a private network",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://127.0.0.1:{private}/site/{path}")], [.delta: .pulled]),
        Row("a connection that breaks, once", [.cutBody(0.5), .end(.reset)], [.delta: .pulled], once: true),
        Row("a connection that always breaks", [.cutBody(0), .end(.close)], [.delta: .unreachable]),
        Row("nothing more, once", [.cutBody(0.5), .end(.stall)], [.delta: .pulled], once: true),
        Row("bytes that never end", [.without("Content-Length"), .end(.endless)], [.delta: .pulled]),
      ])

    private static let streams = RowGroup(
      "stream",
      [
        Row("wrong bytes", [.body(.flipped)], [.stream: .corrupt]),
        Row("wrong bytes, once", [.body(.flipped)], [.stream: .pulled], once: true),
        Row("another length", [.body(.and("\0")), .field("Content-Length", "1{count}")], [.stream: .siteChanged]),
        Row("no length", [.without("Content-Length"), .end(.close)], [.stream: .pulled]),
        Row(
          "no length, and too long", [.without("Content-Length"), .body(.and("\0")), .end(.close)], [.stream: .pulled]),
        Row(
          "no length, and too short", [.without("Content-Length"), .body(.first(-1)), .end(.close)],
          [.stream: .badResponse]),
        Row("no length, and bytes that never end", [.without("Content-Length"), .end(.endless)], [.stream: .pulled]),
        Row(
          "a length beyond all", [.field("Content-Length", "9223372036854775807"), .end(.close)], [.stream: .pulled]),
        Row("206", [.status("HTTP/1.1 206 Partial Content")], [.stream: .badResponse]),
        Row(
          "206 with a range",
          [.status("HTTP/1.1 206 Partial Content"), .field("Content-Range", "bytes {first}-{last}/{total}")],
          [.stream: .pulled]),
        Row("404", [.status("HTTP/1.1 404 Not Found")], [.stream: .siteChanged]),
        Row("404, once", [.status("HTTP/1.1 404 Not Found")], [.stream: .pulled], once: true),
        Row("403", [.status("HTTP/1.1 403 Forbidden")], [.stream: .denied]),
        Row("416", [.status("HTTP/1.1 416 Range Not Satisfiable")], [.stream: .denied]),
        Row("503", [.status("HTTP/1.1 503 Busy")], [.stream: .unreachable]),
        Row("503, once", [.status("HTTP/1.1 503 Busy")], [.stream: .pulled], once: true),
        Row("gzip", [.field("Content-Encoding", "gzip")], [.stream: .badResponse]),
        Row("another tag each time", [.field("ETag", "\"other\"")], [.stream: .pulled]),
        Row("a break in the middle, once", [.cutBody(0.5), .end(.close)], [.stream: .pulled], once: true),
        Row("a break in the middle", [.cutBody(0.5), .end(.reset)], [.stream: .unreachable]),
        Row("nothing more, once", [.cutBody(0.5), .end(.stall)], [.stream: .pulled], once: true),
        Row("one byte a second", [.end(.drip(1))], [.stream: .unreachable]),
        Row("a chunk size beyond all", [.chunked("ffffffffffffffff\r\n{body}"), .end(.close)], [.stream: .pulled]),
        Row("chunks that never end", [.chunked("{size}\r\n{body}\r\n"), .end(.endless)], [.stream: .pulled]),
        Row(
          "a redirection to itself", [.status("HTTP/1.1 302 Found"), .line("Location: /site/{path}")],
          [.stream: .badResponse]),
        Row(
          "a redirection to a private network",
          [.status("HTTP/1.1 302 Found"), .line("Location: http://127.0.0.1:{private}/site/{path}")],
          [.stream: .badResponse]),
      ])

    // MARK: - Parts

    private static let flood = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    private static let manyFields = Array(String(repeating: "X-A: x\r\n", count: 8192).utf8)
    private static let chance = String(String.UnicodeScalarView(noise(2000, seed: 7).map { Unicode.Scalar($0) }))
    private static let page = "<!DOCTYPE html><html><title>Welcome to our WLAN</title><form>Password</form></html>\n"
    private static let onePart = "--b\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/2\r\n\r\nab\r\n--b--\r\n"
  }
#endif
