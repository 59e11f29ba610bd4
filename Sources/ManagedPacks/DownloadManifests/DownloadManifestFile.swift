import PackArchives
import PackFormats
import Synchronization

/// A download manifest at a URL, or in a file of this machine.
package struct DownloadManifestFile: Sendable {
  private let location: String
  private let template: Store.PullOptions
  private let transport: (any FileTransport)?

  /// - Parameters:
  ///   - template: the options of the request.
  ///   - transport: fetches the file; `nil` for the network.
  package init(_ location: String, _ template: Store.PullOptions, transport: (any FileTransport)? = nil) {
    self.location = location
    self.template = template
    self.transport = transport
  }

  /// Requests the manifest.
  ///
  /// - Throws: ``DeliveryError``: `noSite` if the content is not a download manifest, and faults of the request.
  package func archives() async throws -> [ListedArchive] {
    let bytes = try await bytes()
    do {
      return try ListedArchive.list(in: bytes, name: withoutSecrets(location))
    } catch let error as PackStoreError where error.code == .corrupt {
      throw DeliveryError(.noSite, "not a download manifest (\(error.reason))", at: location)
    }
  }

  private func bytes() async throws -> [UInt8] {
    guard FileLocation(location) != nil else {
      let path = location.hasPrefix("file:") ? URL(string: location).map { FilePath($0.path) } : FilePath(location)
      return try InputFile(path ?? "").contents(limit: AssetPackManifest.byteCountLimit)
    }
    let sink = MemorySink(
      limit: AssetPackManifest.byteCountLimit, at: location, permit: { [template] in try template.permitsHost?($0) })
    let transport = transport ?? fileTransport(template)
    let fields = template.requestFields(for: location, listedAt: location)
    try await unwrapped { try await transport.fetch(FileRequest(location, fields: fields), to: sink) }
    return sink.bytes
  }
}

extension Store.PullOptions {
  /// The header fields of a request, which authorize it.
  func requestFields(for url: String, listedAt location: String) -> [String: String] {
    authorization?.requestFields(for: url, listedAt: location) ?? [:]
  }
}

/// Throws the error of a transport as the error of a site.
func unwrapped(_ body: () async throws -> Void) async throws {
  do { try await body() } catch let fault as FileFault { throw fault.error }
}

/// Receives a small file in memory.
private final class MemorySink: FileSink {
  private let limit: Int
  private let location: String
  private let permit: @Sendable (String) throws -> Void
  private let received = Mutex<[UInt8]>([])

  init(limit: Int, at location: String, permit: @escaping @Sendable (String) throws -> Void) {
    self.limit = limit
    self.location = location
    self.permit = permit
  }

  var bytes: [UInt8] { received.withLock { $0 } }

  func permit(host: String) throws { try permit(host) }
  func answer(_ challenge: FileChallenge) async -> FileChallengeReply { .none }
  func begin(_ answer: FileAnswer) throws {
    guard answer.byteCount ?? 0 <= limit else { throw tooLong }
    received.withLock { $0 = [] }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    try received.withLock { received in
      guard bytes.count <= limit - received.count else { throw tooLong }
      received += bytes
    }
  }

  private var tooLong: DeliveryError { DeliveryError(.noSite, "longer than \(limit) bytes", at: location) }
}
