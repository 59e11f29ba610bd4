import Foundation
import Testing

@testable import packstore_compare

struct FileServerTests {
  private func request(_ text: String) -> HTTPRequest? { HTTPRequest(Array(text.utf8)) }

  @Test func readsHeads() throws {
    let read = try #require(request("GET /a%20b/c?d HTTP/1.1\r\nHost: x:1\r\nRANGE:  bytes=0-1 \r\n\r\n"))
    #expect(read.method == "GET")
    #expect(read.path == "/a b/c")
    #expect(read.relativePath == "a b/c")
    #expect(read.fields == ["host": "x:1", "range": "bytes=0-1"])
    #expect(read.keepsConnection)
    #expect(request("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n")?.keepsConnection == false)
    #expect(request("GET / HTTP/1.0\r\n\r\n")?.keepsConnection == false)
    #expect(request("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")?.keepsConnection == true)
    for wrong in [
      "", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / SPDY/1\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nx\r\n\r\n",
    ] {
      #expect(request(wrong) == nil)
    }
  }

  @Test func leadsNowhereElse() {
    for path in ["/../secret", "/a/../../b", "/%2e%2e/b", "//etc", "/a/", "/"] {
      #expect(request("GET \(path) HTTP/1.1\r\n\r\n")?.relativePath == nil)
    }
  }

  @Test func readsRanges() {
    func range(_ text: String?) -> HTTPRange { HTTPRange(text, length: 100) }
    #expect(range(nil) == .whole)
    #expect(range("lines=1-2") == .whole)
    #expect(range("bytes=5-4") == .whole)
    #expect(range("bytes=x-4") == .whole)
    #expect(range("bytes=0-0") == .parts([0..<1]))
    #expect(range("bytes=90-1000000") == .parts([90..<100]))
    #expect(range("bytes=40-") == .parts([40..<100]))
    #expect(range("bytes=-30") == .parts([70..<100]))
    #expect(range("bytes=-300") == .parts([0..<100]))
    #expect(range("bytes=0-9, 20-29") == .parts([0..<10, 20..<30]))
    #expect(range("bytes=100-") == .unsatisfiable)
    #expect(range("bytes=100-,0-1") == .parts([0..<2]))
    #expect(range("bytes=9223372036854775807-") == .unsatisfiable)
    #expect(range("bytes=0-9223372036854775807") == .parts([0..<100]))
    #expect(range("bytes=-9223372036854775807") == .parts([0..<100]))
  }

  @Test func servesAndCounts() throws {
    let folder = try TemporaryFolder(in: nil)
    try Data("0123456789".utf8).write(to: URL(fileURLWithPath: folder.path + "/digits"))
    let server = try FileServer(serving: folder.path)
    defer { server.stop() }
    let connection = try Connection(to: server.port)

    let whole = try connection.ask("GET /digits HTTP/1.1\r\n\r\n")
    #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n\r\n0123456789"))
    // The same connection goes on.
    let part = try connection.ask("GET /digits HTTP/1.1\r\nRange: bytes=2-4\r\n\r\n")
    #expect(part.hasPrefix("HTTP/1.1 206 ") && part.hasSuffix("\r\n\r\n234"))
    #expect(part.contains("\r\nContent-Range: bytes 2-4/10\r\n"))
    let stale = try connection.ask("GET /digits HTTP/1.1\r\nRange: bytes=2-4\r\nIf-Range: \"other\"\r\n\r\n")
    #expect(stale.hasPrefix("HTTP/1.1 200 "))
    let none = try connection.ask("GET /none HTTP/1.1\r\n\r\n")
    #expect(none.hasPrefix("HTTP/1.1 404 "))
    let parts = try connection.ask("GET /digits HTTP/1.1\r\nRange: bytes=0-1,8-9\r\n\r\n")
    #expect(parts.contains("Content-Range: bytes 0-1/10\r\n\r\n01\r\n--"))
    #expect(parts.contains("Content-Range: bytes 8-9/10\r\n\r\n89\r\n--"))

    let exchanges = server.takeExchanges()
    #expect(exchanges.map(\.path) == ["digits", "digits", "digits", "none", "digits"])
    #expect(exchanges.map(\.status) == [200, 206, 200, 404, 206])
    #expect(exchanges.map(\.sentByteCount) == [whole, part, stale, none, parts].map(\.utf8.count))
    #expect(exchanges[0].receivedByteCount == 24)
    #expect(server.takeExchanges().isEmpty)
  }

  @Test func endsWhatDoesNotEnd() throws {
    let folder = try TemporaryFolder(in: nil)
    let server = try FileServer(serving: folder.path)
    defer { server.stop() }
    let connection = try Connection(to: server.port)
    connection.send("GET /" + String(repeating: "x", count: 100_000))
    #expect(connection.isEnded)
    #expect(try Connection(to: server.port).ask("nonsense\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
  }
}

/// A client as simple as can be.
private final class Connection {
  private let descriptor: CInt

  init(to port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    address.sin_port = port.bigEndian
    let descriptor = descriptor
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Whether the other side has closed it.
  var isEnded: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, 0) <= 0
  }

  /// One request, and the whole answer to it.
  func ask(_ text: String) throws -> String {
    send(text)
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let soFar = String(decoding: answer, as: UTF8.self)
      if let end = soFar.firstRange(of: "\r\n\r\n"), let field = soFar.firstMatch(of: /Content-Length: (\d+)/),
        soFar[end.upperBound...].utf8.count == Int(field.1)
      {
        return soFar
      }
      let count = recv(descriptor, &piece, piece.count, 0)
      try #require(count > 0)
      answer += piece[..<count]
    }
  }
}
