// One file from any web server, as it comes: nothing of it is signed. What is behind ``FileTransport`` knows servers; what is behind
// ``FileSink`` knows what becomes of the bytes.

/// What is asked for.
package struct FileRequest: Hashable, Sendable {
  package var url: String

  /// Fields of the request beside those of the transport. They go to the server that the URL names, and to no other one.
  package var fields: [String: String] = [:]

  /// How many bytes are here.
  package var offset = 0

  /// Of which state of the file they are, as ``FileAnswer/validator`` said; nil: the file comes from its beginning on.
  package var validator: String?

  package init(_ url: String, fields: [String: String] = [:], offset: Int = 0, validator: String? = nil) {
    self.url = url
    self.fields = fields
    self.offset = offset
    self.validator = validator
  }
}

/// What a server is about to send.
package struct FileAnswer: Hashable, Sendable {
  /// Where in the file its bytes begin: ``FileRequest/offset``, or 0 where that state of the file cannot be had any more.
  package var offset: Int

  /// The bytes of the whole file; nil: the server does not say.
  package var byteCount: Int?

  /// What names this state of the file byte for byte: a strong tag, or a time of change that is long past. Nil: nothing does, and
  /// what breaks off begins again.
  package var validator: String?

  package init(offset: Int = 0, byteCount: Int? = nil, validator: String? = nil) {
    self.offset = offset
    self.byteCount = byteCount
    self.validator = validator
  }
}

/// A server asks who is there.
package struct FileChallenge: Hashable, Codable, Sendable {
  package var scheme: String
  package var host: String
  package var port: Int
  package var realm: String
  /// How often an answer was refused before.
  package var failureCount: Int

  package init(scheme: String, host: String, port: Int, realm: String, failureCount: Int = 0) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.realm = realm
    self.failureCount = failureCount
  }
}

package enum FileChallengeReply: Hashable, Codable, Sendable {
  case credential(user: String, password: String)
  /// Nothing is known: the server's refusal counts.
  case none
  case cancel
}

/// Where the bytes of a file go. Called by one task at a time, on a thread that may block.
package protocol FileSink: Sendable {
  /// Before a server is asked, also one that another leads to. What it throws ends the transfer.
  func permit(host: String) throws

  func answer(_ challenge: FileChallenge) async -> FileChallengeReply

  /// Bytes follow.
  func begin(_ answer: FileAnswer) throws

  func take(_ bytes: UnsafeRawBufferPointer) throws
}

/// Fetches files.
package protocol FileTransport: Sendable {
  /// Returns when the sink has all bytes of the file.
  ///
  /// - Throws: ``FileFault``; what the sink throws; `CancellationError`.
  func fetch(_ request: FileRequest, to sink: any FileSink) async throws
}

/// Why a file did not come.
package struct FileFault: Error, Hashable, Sendable {
  package var error: DeliveryError

  /// Another try may help.
  package var isTemporary: Bool

  /// For how long the server wants to be left alone.
  package var demandedDelay: Duration?

  package init(_ error: DeliveryError, isTemporary: Bool, demandedDelay: Duration? = nil) {
    self.error = error
    self.isTemporary = isTemporary
    self.demandedDelay = demandedDelay
  }
}

extension FileFault: CustomStringConvertible {
  package var description: String { "\(error)" }
}

/// The transport of this build.
package func standardFileTransport(environment: [String: String]) -> any FileTransport {
  #if Delivery
    var options = HTTPSource.Options()
    options.environment = environment
    return HTTPFileTransport(options)
  #else
    return NoFileTransport()
  #endif
}

#if !Delivery
  private struct NoFileTransport: FileTransport {
    func fetch(_ request: FileRequest, to sink: any FileSink) async throws {
      throw FileFault(
        DeliveryError(.noHTTP, "this build of PackStore has no HTTP", at: withoutSecrets(request.url)),
        isTemporary: false)
    }
  }
#endif
