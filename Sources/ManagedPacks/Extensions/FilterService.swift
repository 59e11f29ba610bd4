#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The extension's side: answers the agent's requests on standard input until the agent has no more.
struct FilterService {
  let shouldDownload: (AssetPack) -> Bool

  /// Serves the agent. Returns false after an invalid request.
  func run() -> Bool {
    let socket = LocalSocket(owning: 0)
    do {
      try serve(socket)
      return true
    } catch {
      warn("the agent and this extension use different protocol versions; start the extension without arguments")
      return false
    }
  }

  func serve(_ socket: LocalSocket) throws {
    var frames = MessageFrames(limit: FilterProtocol.byteCountLimit), output: ArraySlice<UInt8> = []
    while true {
      if output.isEmpty, let message = try frames.next() {
        let pack = try FilterRequest(decoding: message).pack
        let reply = FilterReply(try PackID(validating: pack.id), isWanted: shouldDownload(pack))
        output = try MessageFrames.frame(reply.encode())[...]
      }
      if !output.isEmpty { output = output.dropFirst(try socket.write(output)) }
      var entries = [pollfd(fd: socket.number, events: Int16(output.isEmpty ? POLLIN : POLLOUT), revents: 0)]
      guard systemPoll(&entries, -1) > 0, output.isEmpty else { continue }
      guard let bytes = try socket.read(upTo: frames.room) else { continue }
      guard !bytes.isEmpty else { return }
      frames.append(bytes)
    }
  }
}
