import PackStore

// Messages between the agent and the extension of an app with downloads of its own, in the same frames as between app and agent:
// JSON objects with `format`, and `ask` or `answer`. A callback is a request, and its return is the reply.

package enum DownloaderProtocol {
  /// The first argument of an extension that the agent starts.
  package static let argument = "downloads"

  /// The size limit of a message in bytes: an extension may return thousands of downloads.
  package static let byteCountLimit = 16 << 20

  static let format = 1
}

/// A request of the agent to an extension.
package enum DownloaderRequest: Hashable, Codable, Sendable {
  /// `downloads(for:manifestURL:extensionInfo:)`; the remaining sizes are `nil` if unlimited.
  case downloads(event: Int, manifest: String, left: Int?, leftEssential: Int?)
  /// `backgroundDownload(_:finishedWithFileURL:)`.
  case finished(DownloadRecord, file: String)
  /// `backgroundDownload(_:failedWithError:)`.
  case failed(DownloadRecord)
  /// `backgroundDownload(_:didReceive:)`.
  case challenge(DownloadRecord, FileChallenge)
  /// `extensionWillTerminate()`.
  case end
}

/// A reply of an extension.
package enum DownloaderReply: Hashable, Codable, Sendable {
  case downloads([DownloadRecord])
  case done
  case challenge(FileChallengeReply)
}

private struct Envelope<Content: Codable>: Codable {
  var format: Int
  var ask: Content?
  var answer: Content?
}

/// - Throws: ``AgentMessageError``.
private func decoded<Content: Codable>(_ bytes: [UInt8], _: Content.Type) throws -> Envelope<Content> {
  guard bytes.count <= DownloaderProtocol.byteCountLimit else { throw AgentMessageError.tooLong }
  // Before Foundation's decoder: rejects deep nesting and duplicate names.
  guard JSONReader.read(bytes).faults.isEmpty,
    let envelope = try? JSONDecoder().decode(Envelope<Content>.self, from: Data(bytes)), envelope.format >= 1
  else { throw AgentMessageError.malformed }
  guard envelope.format <= DownloaderProtocol.format else { throw AgentMessageError.newer }
  return envelope
}

private func encoded<Content: Codable>(_ envelope: Envelope<Content>) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return Array(try encoder.encode(envelope))
}

extension DownloaderRequest {
  /// - Throws: ``AgentMessageError``.
  package init(decoding bytes: [UInt8]) throws {
    guard let request = try decoded(bytes, Self.self).ask, request.isBounded else { throw AgentMessageError.malformed }
    self = request
  }

  package func encode() throws -> [UInt8] {
    try encoded(Envelope(format: DownloaderProtocol.format, ask: self, answer: nil))
  }

  private var isBounded: Bool {
    switch self {
    case .downloads(let event, _, let left, let leftEssential):
      BAContentRequest(rawValue: event) != nil && left ?? 0 >= 0 && leftEssential ?? 0 >= 0
    case .finished(let record, _), .failed(let record), .challenge(let record, _): record.isBounded
    case .end: true
    }
  }
}

extension DownloaderReply {
  /// - Throws: ``AgentMessageError``.
  package init(decoding bytes: [UInt8]) throws {
    guard let reply = try decoded(bytes, Self.self).answer, reply.isBounded else { throw AgentMessageError.malformed }
    self = reply
  }

  /// Invalid downloads in the reply do not invalidate the others: scheduling checks each.
  private var isBounded: Bool {
    guard case .downloads(let records) = self else { return true }
    return records.count <= DownloadList.countLimit && records.allSatisfy { $0.number >= 0 }
  }

  package func encode() throws -> [UInt8] {
    try encoded(Envelope(format: DownloaderProtocol.format, ask: nil, answer: self))
  }
}
