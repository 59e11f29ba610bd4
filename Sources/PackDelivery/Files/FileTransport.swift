// Downloads of single unsigned files from any web server. A ``FileTransport`` implements the protocol; a ``FileSink`` processes the
// bytes.

/// A request for a file.
package struct FileRequest: Hashable, Sendable {
  package var url: String

  /// Additional header fields. They are sent only to the server in the URL.
  package var fields: [String: String] = [:]

  /// The number of bytes already present.
  package var offset = 0

  /// The state of the file that these bytes belong to, as in ``FileAnswer/validator``; `nil`: the file is requested from the
  /// beginning.
  package var validator: String?

  package init(_ url: String, fields: [String: String] = [:], offset: Int = 0, validator: String? = nil) {
    self.url = url
    self.fields = fields
    self.offset = offset
    self.validator = validator
  }
}

/// The head of a server's answer.
package struct FileAnswer: Hashable, Sendable {
  /// The offset of the answer's bytes in the file: ``FileRequest/offset``, or 0 if that state of the file no longer exists.
  package var offset: Int

  /// The size of the whole file; `nil` if the server does not send it.
  package var byteCount: Int?

  /// Identifies this state of the file byte for byte: a strong tag, or a modification time long past. `nil` if the server sends
  /// neither: an interrupted transfer then begins again.
  package var validator: String?

  package init(offset: Int = 0, byteCount: Int? = nil, validator: String? = nil) {
    self.offset = offset
    self.byteCount = byteCount
    self.validator = validator
  }
}

/// A server's request for credentials.
package struct FileChallenge: Hashable, Codable, Sendable {
  package var scheme: String
  package var host: String
  package var port: Int
  package var realm: String
  /// The number of refused answers so far.
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
  /// No credentials: the server's refusal is final.
  case none
  case cancel
}

/// Receives the bytes of a file. Called by one task at a time, on a thread that may block.
package protocol FileSink: Sendable {
  /// Called before a request to a server, including redirect targets. An error ends the transfer.
  func permit(host: String) throws

  func answer(_ challenge: FileChallenge) async -> FileChallengeReply

  /// Called before the bytes.
  func begin(_ answer: FileAnswer) throws

  func take(_ bytes: UnsafeRawBufferPointer) throws
}

/// Fetches files.
package protocol FileTransport: Sendable {
  /// Returns when the sink has received all bytes of the file.
  ///
  /// - Throws: ``FileFault``; the errors of the sink; `CancellationError`.
  func fetch(_ request: FileRequest, to sink: any FileSink) async throws
}

/// The reason why a transfer failed.
package struct FileFault: Error, Hashable, Sendable {
  package var error: DeliveryError

  /// Whether another attempt may succeed.
  package var isTemporary: Bool

  /// The delay that the server requested.
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

/// Returns the transport of this build.
package func standardFileTransport(environment: [String: String]) -> any FileTransport {
  #if Delivery
    var options = HTTPSource.Options()
    options.environment = environment
    return HTTPFileTransport(options)
  #else
    return NoFileTransport()
  #endif
}

/// The transport of this build for a file that is fetched as a pull fetches its files: at the same pace, through the same network.
package func fileTransport(_ options: Store.PullOptions) -> any FileTransport {
  #if Delivery
    return HTTPFileTransport(options.httpOptions(options.pace))
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
