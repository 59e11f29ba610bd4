import Foundation

/// Serves the files below a folder on this machine only, like any static web server, and counts each byte that it sends
/// and receives. So the server measures the network cost of an update.
///
/// HTTP/1.1 with kept connections, ranges (several in one request, too) and `If-Range`. A thread for each connection.
final class FileServer: @unchecked Sendable {
  /// A request and its cost.
  struct Exchange: Equatable {
    let path: String
    let status: Int
    /// Heads included.
    let receivedByteCount: Int
    let sentByteCount: Int
  }

  let port: UInt16
  private let folder: String
  private let listener: CInt
  private let lock = NSCondition()
  private var exchanges: [Exchange] = []
  /// Answers that are under way.
  private var answerCount = 0
  private var connections: Set<CInt> = []
  private var isStopped = false

  init(serving folder: String) throws {
    self.folder = folder
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw SystemError("socket", "server") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard isListening else {
      close(listener)
      throw SystemError("listen", "server")
    }
    Thread.detachNewThread { [self] in acceptAll() }
  }

  func url(of path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

  /// Returns the requests since the last call, in the order in which responses ended. Waits for running responses: a
  /// client may have received a complete response before the server has recorded it.
  func takeExchanges() -> [Exchange] {
    lock.withLock {
      while answerCount > 0 { lock.wait() }
      defer { exchanges = [] }
      return exchanges
    }
  }

  /// Ends all connections. Threads that serve them end soon.
  func stop() {
    lock.withLock {
      isStopped = true
      shutdown(listener, Int32(SHUT_RDWR))
      for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    }
  }

  // MARK: - Connections

  private func acceptAll() {
    while true {
      let connection = accept(listener, nil, nil)
      if connection < 0 {
        if errno == EINTR || errno == ECONNABORTED { continue }
        close(listener)
        return
      }
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      let isWelcome = lock.withLock { !isStopped && connections.insert(connection).inserted }
      guard isWelcome else {
        close(connection)
        continue
      }
      Thread.detachNewThread { [self] in
        serve(connection)
        lock.withLock { _ = connections.remove(connection) }
        close(connection)
      }
    }
  }

  private func serve(_ connection: CInt) {
    var on: CInt = 1
    setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    var pending: [UInt8] = []
    while let head = Self.receiveHead(connection, &pending) {
      lock.withLock { answerCount += 1 }
      let request = HTTPRequest(head)
      let answer = Answer(request, in: folder)
      let sent = answer.send(to: connection)
      let exchange = Exchange(
        path: request?.relativePath ?? "", status: answer.status, receivedByteCount: head.count,
        sentByteCount: sent.count)
      lock.withLock {
        exchanges.append(exchange)
        answerCount -= 1
        lock.broadcast()
      }
      guard sent.isComplete, request?.keepsConnection == true else { return }
    }
  }

  /// The bytes up to an empty line; nil at the end of the connection, or when they do not end.
  private static func receiveHead(_ connection: CInt, _ pending: inout [UInt8]) -> [UInt8]? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = pending.firstRange(of: end) {
        defer { pending.removeSubrange(..<range.upperBound) }
        return Array(pending[..<range.upperBound])
      }
      guard pending.count < 64 << 10 else { return nil }
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = recv(connection, &piece, piece.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      pending += piece[..<count]
    }
  }
}

/// The answer to one request.
private struct Answer {
  let status: Int
  private var file: CInt = -1
  private var head = ""
  /// The parts after the head, in order.
  private var body: [Piece] = []

  private enum Piece {
    case text(String)
    case part(Range<Int>)

    var byteCount: Int {
      switch self {
      case .text(let text): text.utf8.count
      case .part(let part): part.count
      }
    }
  }

  init(_ request: HTTPRequest?, in folder: String) {
    guard let request, let path = request.relativePath else {
      self.init(refusal: 400, "Bad Request")
      return
    }
    guard ["GET", "HEAD"].contains(request.method) else {
      self.init(refusal: 405, "Method Not Allowed")
      return
    }
    let file = open("\(folder)/\(path)", O_RDONLY | O_CLOEXEC)
    var about = stat()
    guard file >= 0, fstat(file, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
      if file >= 0 { close(file) }
      self.init(refusal: 404, "Not Found")
      return
    }
    self.init(request, file, about)
  }

  private init(refusal status: Int, _ reason: String) {
    self.status = status
    head = "HTTP/1.1 \(status) \(reason)\r\nContent-Length: 0\r\n\r\n"
  }

  private init(_ request: HTTPRequest, _ file: CInt, _ about: stat) {
    self.file = file
    let length = Int(about.st_size)
    let tag = "\"\(String(about.st_mtim.tv_sec, radix: 16))-\(about.st_mtim.tv_nsec)-\(about.st_ino)-\(length)\""
    let isSame = request.fields["if-range"].map { $0 == tag } ?? true
    var fields = "ETag: \(tag)\r\nAccept-Ranges: bytes\r\n"
    switch HTTPRange(isSame ? request.fields["range"] : nil, length: length) {
    case .whole:
      status = 200
      body = [.part(0..<length)]
    case .unsatisfiable:
      status = 416
      fields += "Content-Range: bytes */\(length)\r\n"
    case .parts(let parts) where parts.count == 1:
      status = 206
      fields += "Content-Range: \(Self.contentRange(parts[0], length))\r\n"
      body = [.part(parts[0])]
    case .parts(let parts):
      status = 206
      let boundary = "part-of-\(about.st_ino)"
      fields += "Content-Type: multipart/byteranges; boundary=\(boundary)\r\n"
      for part in parts {
        body.append(.text("\r\n--\(boundary)\r\nContent-Range: \(Self.contentRange(part, length))\r\n\r\n"))
        body.append(.part(part))
      }
      body.append(.text("\r\n--\(boundary)--\r\n"))
    }
    let reason = [200: "OK", 206: "Partial Content"][status] ?? "Range Not Satisfiable"
    let bodyLength = body.reduce(0) { $0 + $1.byteCount }
    head = "HTTP/1.1 \(status) \(reason)\r\n\(fields)Content-Length: \(bodyLength)\r\n\r\n"
    if request.method == "HEAD" { body = [] }
  }

  private static func contentRange(_ part: Range<Int>, _ length: Int) -> String {
    "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
  }

  /// Sends all of it, and closes the file.
  ///
  /// - Returns: how much went out, and whether that was all.
  func send(to connection: CInt) -> (count: Int, isComplete: Bool) {
    defer { if file >= 0 { close(file) } }
    var count = 0
    for piece in [.text(head)] + body {
      let sent =
        switch piece {
        case .text(let text): Self.send(Array(text.utf8), to: connection)
        case .part(let part): send(part, to: connection)
        }
      count += sent
      if sent < piece.byteCount { return (count, false) }
    }
    return (count, true)
  }

  private static func send(_ bytes: [UInt8], to connection: CInt) -> Int {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    return done
  }

  private func send(_ part: Range<Int>, to connection: CInt) -> Int {
    var offset = off_t(part.lowerBound)
    while Int(offset) < part.upperBound {
      let count = sendfile(connection, file, &offset, part.upperBound - Int(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
    }
    return Int(offset) - part.lowerBound
  }
}
