/// Takes a stream of bytes apart into messages: each is its length as four bytes, the highest first, and that many bytes.
///
/// Holds no more than one message and what came with its end, however long the stream is.
package struct MessageFrames: Sendable {
  /// The most bytes of a message between an app and the agent.
  package static let byteCountLimit = 65_536

  private static let headerByteCount = 4
  private let limit: Int
  private var bytes: [UInt8] = []

  /// - Parameter limit: the most bytes of a message.
  package init(limit: Int = MessageFrames.byteCountLimit) { self.limit = limit }

  /// A message has begun and not ended.
  package var isPartial: Bool { !bytes.isEmpty }

  /// How many bytes may come before ``next()`` has to be asked again.
  package var room: Int { max(Self.headerByteCount + limit - bytes.count, 0) }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// The next whole message; nil: more bytes are needed.
  ///
  /// - Throws: ``AgentMessageError`` `tooLong` as soon as a length says so. The stream is of no use from then on.
  package mutating func next() throws -> [UInt8]? {
    guard bytes.count >= Self.headerByteCount else { return nil }
    let count = bytes.prefix(Self.headerByteCount).reduce(0) { $0 << 8 | Int($1) }
    guard count <= limit else { throw AgentMessageError.tooLong }
    guard bytes.count - Self.headerByteCount >= count else { return nil }
    let message = Array(bytes.dropFirst(Self.headerByteCount).prefix(count))
    bytes.removeFirst(Self.headerByteCount + count)
    return message
  }

  /// A message as it goes into a stream.
  ///
  /// - Throws: ``AgentMessageError`` `tooLong`.
  package static func frame(_ message: [UInt8], limit: Int = MessageFrames.byteCountLimit) throws -> [UInt8] {
    guard message.count <= limit, let count = UInt32(exactly: message.count) else { throw AgentMessageError.tooLong }
    return (0..<headerByteCount).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) } + message
  }
}

/// Why a message cannot be understood.
package enum AgentMessageError: Error, Hashable, Sendable {
  /// It has more bytes than any message.
  case tooLong
  /// It is none of those that there are.
  case malformed
  /// It is of a later version of the protocol.
  case newer
}
