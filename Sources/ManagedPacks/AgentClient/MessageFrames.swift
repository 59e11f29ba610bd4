/// Splits a stream of bytes into messages. Each message is its length as four bytes, big-endian, followed by that many bytes.
///
/// Buffers at most one message and the bytes received with its end.
package struct MessageFrames: Sendable {
  /// The size limit of a message between an app and the agent, in bytes.
  package static let byteCountLimit = 65_536

  private static let headerByteCount = 4
  private let limit: Int
  private var bytes: [UInt8] = []

  /// - Parameter limit: the size limit of a message, in bytes.
  package init(limit: Int = MessageFrames.byteCountLimit) { self.limit = limit }

  /// Whether a message has begun and is incomplete.
  package var isPartial: Bool { !bytes.isEmpty }

  /// The number of bytes to append at most before the next call of ``next()``.
  package var room: Int { max(Self.headerByteCount + limit - bytes.count, 0) }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// Returns the next complete message; `nil` if more bytes are needed.
  ///
  /// - Throws: ``AgentMessageError`` `tooLong` as soon as the length exceeds the limit. The stream cannot be used after that.
  package mutating func next() throws -> [UInt8]? {
    guard bytes.count >= Self.headerByteCount else { return nil }
    let count = bytes.prefix(Self.headerByteCount).reduce(0) { $0 << 8 | Int($1) }
    guard count <= limit else { throw AgentMessageError.tooLong }
    guard bytes.count - Self.headerByteCount >= count else { return nil }
    let message = Array(bytes.dropFirst(Self.headerByteCount).prefix(count))
    bytes.removeFirst(Self.headerByteCount + count)
    return message
  }

  /// Returns a message in the form of the stream.
  ///
  /// - Throws: ``AgentMessageError`` `tooLong`.
  package static func frame(_ message: [UInt8], limit: Int = MessageFrames.byteCountLimit) throws -> [UInt8] {
    guard message.count <= limit, let count = UInt32(exactly: message.count) else { throw AgentMessageError.tooLong }
    return (0..<headerByteCount).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) } + message
  }
}

/// The reason why a message is invalid.
package enum AgentMessageError: Error, Hashable, Sendable {
  /// It exceeds the size limit.
  case tooLong
  /// It is not a valid message.
  case malformed
  /// It belongs to a later version of the protocol.
  case newer
}
