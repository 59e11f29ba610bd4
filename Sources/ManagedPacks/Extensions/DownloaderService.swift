#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The side of an extension with downloads of its own: calls its entry points on the agent's requests, until the agent has no more.
///
/// A reply is sent after the entry point has returned and the exclusive control that it requested has ended; the time until then is
/// run time. A file that the entry point did not move away is deleted before that.
struct DownloaderService {
  let downloader: any BADownloaderExtension
  let manager: @Sendable () -> DownloadCore?

  init(_ downloader: any BADownloaderExtension, manager: @escaping @Sendable () -> DownloadCore?) {
    self.downloader = downloader
    self.manager = manager
  }

  /// Serves the agent on standard input. Returns false after an invalid request.
  func run() async -> Bool {
    let socket = LocalSocket(owning: 0)
    do {
      try await serve(socket)
      return true
    } catch {
      warn("the agent and this extension use different protocol versions; start the extension without arguments")
      return false
    }
  }

  func serve(_ socket: LocalSocket) async throws {
    var frames = MessageFrames(limit: DownloaderProtocol.byteCountLimit)
    while true {
      guard let message = try await Self.next(&frames, from: socket) else { return }
      let request = try DownloaderRequest(decoding: message)
      let reply = await answer(request)
      await manager()?.control.waitUntilFree()
      try Self.send(try MessageFrames.frame(reply.encode(), limit: DownloaderProtocol.byteCountLimit), to: socket)
      if request == .end { return }
    }
  }

  private static func next(_ frames: inout MessageFrames, from socket: LocalSocket) async throws -> [UInt8]? {
    while true {
      if let message = try frames.next() { return message }
      let room = frames.room
      let bytes = try await BlockingExecutor.run {
        while true {
          var entries = [pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)]
          guard systemPoll(&entries, -1) > 0 else { continue }
          if let bytes = try socket.read(upTo: min(room, 1 << 16)) { return bytes }
        }
      }
      guard !bytes.isEmpty else { return nil }
      frames.append(bytes)
    }
  }

  private static func send(_ bytes: [UInt8], to socket: LocalSocket) throws {
    var output = bytes[...]
    while !output.isEmpty {
      output = output.dropFirst(try socket.write(output))
      guard !output.isEmpty else { return }
      var entries = [pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)]
      _ = systemPoll(&entries, -1)
    }
  }

  // MARK: - Entry points

  func answer(_ request: DownloaderRequest) async -> DownloaderReply {
    switch request {
    case .downloads(let event, let manifest, let left, let leftEssential):
      let info = BAAppExtensionInfo(
        restrictedDownloadSizeRemaining: left, restrictedEssentialDownloadSizeRemaining: leftEssential)
      let downloads = downloader.downloads(
        for: BAContentRequest(rawValue: event) ?? .periodic, manifestURL: URL(fileURLWithPath: manifest),
        extensionInfo: info)
      return .downloads(downloads.map(\.record).sorted { $0.id < $1.id })
    case .finished(let record, let file):
      downloader.backgroundDownload(.make(record), finishedWithFileURL: URL(fileURLWithPath: file))
      try? removeFile(FilePlace(FilePath(file)))
    case .failed(let record):
      let error = record.failure?.error ?? BAError(.downloadInvalid)
      downloader.backgroundDownload(.make(record), failedWithError: error)
    case .challenge(let record, let challenge):
      let (disposition, credential) = await downloader.backgroundDownload(
        .make(record), didReceive: challenge.authentication)
      return .challenge(FileChallengeReply(disposition, credential))
    case .end: downloader.extensionWillTerminate()
    }
    return .done
  }
}
