import Foundation
import PackStore
import Synchronization

@testable import ManagedPacks
@testable import PackDelivery

/// Servers whose answers the test sets.
final class StubTransport: FileTransport {
  struct File {
    var bytes: [UInt8]
    var validator: String? = #""1""#
    /// Whether the server sends the length.
    var saysLength = true
    /// Passed before each part but the first.
    var gate = Gate(isOpen: true)
    /// The bytes received before the connection fails, by request.
    var breaks: [Int] = []
    var failures: [any Error] = []
    var password: String?

    init(_ count: Int) { bytes = (0..<count).map { UInt8($0 % 251) } }
  }

  let files: Mutex<[String: File]>
  let log = Log()
  private static let partCount = 100

  init(_ files: [String: File] = [:]) { self.files = Mutex(files) }

  func change(_ url: String, _ body: (inout File) -> Void) { files.withLock { body(&$0[url]!) } }

  static func fault(_ text: String, isTemporary: Bool = true) -> FileFault {
    FileFault(DeliveryError(isTemporary ? .unreachable : .denied, text), isTemporary: isTemporary)
  }

  func fetch(_ request: FileRequest, to sink: any FileSink) async throws {
    guard let host = FileLocation(request.url)?.host else { throw Self.fault("no URL", isTemporary: false) }
    try sink.permit(host: host)
    log.append("\(request.url) \(request.offset)")
    let known = files.withLock { $0[request.url] }
    guard let file = known else { throw Self.fault("404", isTemporary: false) }
    if let failure = files.withLock({
      $0[request.url]?.failures.isEmpty == false ? $0[request.url]?.failures.removeFirst() : nil
    }) {
      throw failure
    }
    if let password = file.password {
      var count = 0
      while true {
        let challenge = FileChallenge(scheme: "https", host: host, port: 443, realm: "stub", failureCount: count)
        let reply = await sink.answer(challenge)
        if reply == .credential(user: "player", password: password) { break }
        if reply == .cancel { throw CancellationError() }
        guard case .credential = reply, count < 3 else { throw Self.fault("401", isTemporary: false) }
        count += 1
      }
    }
    let offset = request.validator != nil && request.validator == file.validator ? request.offset : 0
    try sink.begin(
      FileAnswer(offset: offset, byteCount: file.saysLength ? file.bytes.count : nil, validator: file.validator))
    let end = files.withLock { files in
      files[request.url]?.breaks.isEmpty == false ? files[request.url]?.breaks.removeFirst() : nil
    }
    var position = offset
    while position < end ?? file.bytes.count {
      if position > offset { try await file.gate.pass() }
      try Task.checkCancellation()
      let part = file.bytes[position..<min(position + Self.partCount, end ?? .max, file.bytes.count)]
      try Array(part).withUnsafeBytes { try sink.take($0) }
      position += part.count
    }
    if end != nil { throw Self.fault("the line broke") }
  }
}

/// A group with an app that has downloads of its own.
final class UnmanagedSetup: Sendable {
  let folder = TestFolder()
  let transport: StubTransport
  let restrictions: InitialDownloadRestrictions?

  init(_ files: [String: StubTransport.File] = [:], restrictions: InitialDownloadRestrictions? = nil) {
    transport = StubTransport(files)
    self.restrictions = restrictions
  }

  var configuration: ManagedConfiguration {
    get throws {
      var configuration = try ManagedConfiguration(
        appGroupID: "g", sites: [.init("https://example.com/manifest")], appID: "app",
        groupFolder: folder.path.appending("group"))
      configuration.hasManagedAssetPacks = false
      configuration.restrictions = restrictions
      return configuration
    }
  }

  var group: GroupFolder { get throws { try GroupFolder(of: configuration, environment: [:]) } }
  var downloads: DownloadFolder { get throws { try DownloadFolder(ofApp: "app", in: group) } }

  static let clock = TransferClock(
    now: { .zero },
    sleep: { _ in
      await Task.yield()
      try Task.checkCancellation()
    }, watch: { _ in }, random: { 0 })

  func manager(_ change: (inout BADownloadManager.Options) -> Void = { _ in }) throws -> BADownloadManager {
    var options = BADownloadManager.Options()
    options.transport = transport
    options.environment = [:]
    options.clock = Self.clock
    options.isExtension = false
    change(&options)
    return try BADownloadManager(configuration: configuration, options: options)
  }

  static func download(
    _ name: String, essential: Bool = false, size: Int = 0, priority: BADownload.Priority = .default,
    url: String? = nil,
    group: String = "g"
  ) -> BAURLDownload {
    BAURLDownload(
      identifier: name, request: URLRequest(url: URL(string: url ?? "https://example.com/\(name)")!),
      essential: essential,
      fileSize: size, applicationGroupIdentifier: group, priority: priority)
  }
}

/// Records its events, and treats files as the test sets.
final class TestDelegate: BADownloadManagerDelegate, Sendable {
  let log = Log()
  let take: @Sendable (BADownload, URL) -> Void
  let answer: @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

  init(
    answer: @escaping @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?) =
      {
        _ in (.performDefaultHandling, nil)
      },
    take: @escaping @Sendable (BADownload, URL) -> Void = { _, _ in }
  ) {
    self.take = take
    self.answer = answer
  }

  func downloadDidBegin(_ download: BADownload) { log.append("began \(download)") }
  func downloadDidPause(_ download: BADownload) { log.append("paused \(download)") }
  func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { answer(challenge) }
  func download(_ download: BADownload, failedWithError error: any Error) {
    let code =
      (error as? BAError).map { "\($0.code)" } ?? (error as? DeliveryError).map { $0.code.known.rawValue } ?? "?"
    log.append("failed \(download) \(code)")
  }
  func download(_ download: BADownload, finishedWithFileURL fileURL: URL) {
    let size = (try? Data(contentsOf: fileURL).count) ?? -1
    take(download, fileURL)
    log.append("finished \(download) \(size)")  // Last: tests wait for this line.
  }
}
