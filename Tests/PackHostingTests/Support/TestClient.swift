#if Hosting
  import Foundation
  import NIOCore
  import NIOPosix
  import PackStore

  @testable import PackHosting

  /// An answer of the server.
  struct TestAnswer: Sendable {
    let status: Int

    /// Values by lower-case names.
    let fields: [String: String]
    let body: [UInt8]

    /// The head as sent, with interim answers.
    let head: String

    var json: JSONValue? { JSONReader.read(body).root }

    /// Follows members and places of lists: `data.0.attributes.state`.
    func value(_ path: String) -> JSONValue? {
      path.split(separator: ".").reduce(json) { value, name in
        if let place = Int(name), let items = value?.array { return items.indices.contains(place) ? items[place] : nil }
        return value?.member(String(name))
      }
    }

    func text(_ path: String) -> String? { value(path)?.string }

    /// The status and the first code, such as `409 ENTITY_ERROR`.
    var fault: String { "\(status) \(text("errors.0.code") ?? "-")" }
  }

  /// A connection that sends exactly the given bytes.
  final class TestConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    init(port: Int) async throws {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port) { channel in
          channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
        }
    }

    /// Sends pieces, and returns all bytes until the server closes the connection or `isEnough` is true.
    func exchange(_ pieces: [[UInt8]], until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false })
      async throws -> [UInt8]
    {
      try await channel.executeThenClose { inbound, outbound in
        // The server may close the connection before it has read everything.
        for piece in pieces { try? await outbound.write(ByteBuffer(bytes: piece)) }
        var bytes: [UInt8] = []
        do {
          for try await buffer in inbound {
            bytes += buffer.readableBytesView
            if isEnough(bytes) { break }
          }
        } catch is IOError {}
        return bytes
      }
    }
  }

  /// A server of a test host, and a client of it.
  struct TestServer: Sendable {
    let port: Int
    let host: TestHost
    let key: TestKey

    /// Runs a body while a server runs.
    static func run(
      _ host: TestHost, _ key: TestKey = TestKey(), _ options: ServerOptions = .init(),
      _ body: (TestServer) async throws -> Void
    ) async throws {
      var options = options
      options.port = 0
      let server = HostServer(
        api: HostAPI(context: host.context, signer: host.signer, permitsPrivateAddresses: true), options: options)
      let (ports, found) = AsyncStream<Int>.makeStream()
      let task = Task {
        defer { found.finish() }
        try await server.run { found.yield($0) }
      }
      guard let port = await ports.first(where: { _ in true }) else { return try await task.value }
      do { try await body(TestServer(port: port, host: host, key: key)) } catch {
        task.cancel()
        _ = await task.result
        throw error
      }
      task.cancel()
      _ = await task.result
    }

    /// Sends a request on a connection of its own.
    func send(
      _ method: String, _ target: String, _ body: String? = nil, fields: [String] = [], authorization: String? = nil,
      name: String = "localhost"
    ) async throws -> TestAnswer {
      let bearer = try authorization ?? key.bearer(at: host.time.now)
      var lines = [
        "\(method) \(target) HTTP/1.1", "Host: \(name):\(port)", "Authorization: \(bearer)", "Connection: close",
      ]
      if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
      lines += fields
      return try await send([Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)])
    }

    /// Sends bytes as they are.
    func send(_ pieces: [[UInt8]]) async throws -> TestAnswer {
      Self.parse(try await TestConnection(port: port).exchange(pieces))
    }

    private static func parse(_ bytes: [UInt8]) -> TestAnswer {
      var rest = bytes[...], text = "", status = 0
      var fields: [String: String] = [:]
      let end = Array("\r\n\r\n".utf8)
      repeat {
        guard let cut = rest.indices.first(where: { rest[$0...].starts(with: end) }) else { break }
        let head = String(decoding: rest[..<cut], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        fields = [:]
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          fields[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        text += head + "\n"
        rest = rest[(cut + 4)...]
      } while status < 200
      return TestAnswer(status: status, fields: fields, body: Array(rest), head: text)
    }
  }
#endif
