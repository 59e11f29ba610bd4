package import PackFormats
package import PackStore

/// The interface between a site and its storage: the operations that the protocol of `Docs/ObjectStorage.md` needs. ``S3Storage``
/// is one implementation; other kinds of storage are other conforming types.
///
/// A storage has two spaces of keys for one site, a public and a private one.
///
/// Invariants of every storage:
/// - A conditional write happens only if the condition holds when it arrives.
/// - Every read that begins after a write returns the written object.
/// - A request signed up to some moment of ``now()`` cannot arrive later than ``requestLife`` after it.
///
/// An operation repeats temporary failures, and throws if they persist: then it is unknown whether the operation happened.
package protocol ObjectStorage: Sendable {
  /// The storage's name in errors: a URL.
  var location: String { get }

  /// An id that distinguishes the storage from all others, including a bucket with the same name on another server.
  var identity: String { get }

  /// Whether the server may ignore conditions: then ``BucketCheck`` runs before the first publication.
  var needsCheck: Bool { get }

  /// Returns the storage's time in seconds since 1970, not ahead of its clock.
  func now() async throws -> Int64

  /// Reads a whole object; `nil` if it does not exist.
  ///
  /// - Throws: `badResponse` if it has more than `limit` bytes; `unreachable`, `denied`.
  func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject?

  /// Returns the metadata of an object without reading it; `nil` if it does not exist.
  func examine(_ key: ObjectKey) async throws -> ObjectFacts?

  /// Passes on the bytes of an object in pieces. After an interrupted attempt, calls `restart`, and begins again.
  ///
  /// - Returns: false if the object does not exist.
  func fetch(
    _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool

  /// Reads a range of an object, or less at its end; `nil` if it does not exist.
  ///
  /// - Parameter range: must not be empty.
  func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]?

  /// Writes an object as a whole.
  ///
  /// - Parameter latest: the latest time, by ``now()``, for signing a request; `nil`: any time.
  /// - Throws: ``LeaseOver`` if it is later; `unreachable`, `denied`.
  func write(_ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?) async throws
    -> WriteOutcome

  /// Deletes an object, if it exists.
  ///
  /// - Returns: whether every request had a final answer. If not, one may still arrive.
  func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool

  /// Lists the objects of the public space: their paths and lengths. An object written or deleted during the call may be missing.
  ///
  /// - Returns: `nil` if the storage or its permissions do not allow listing.
  /// - Throws: `unreachable`.
  func list() async throws -> [String: UInt64]?

  /// Closes all connections.
  func close() async
}

extension ObjectStorage {
  package var identity: String { location }
  package var needsCheck: Bool { false }
  package func list() async throws -> [String: UInt64]? { nil }
}

/// The key of an object of a site.
package struct ObjectKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  package enum Space: Hashable, Sendable { case shared, hidden }

  /// Public, or for publishers only.
  package let space: Space

  /// The path below the prefix of the space.
  package let path: String

  package static let ledger = Self(space: .hidden, path: "ledger")

  /// A file of the site that devices fetch.
  package static func file(_ path: SitePath) -> Self { Self(space: .shared, path: path.description) }

  /// A private file, identified by its content.
  package static func blob(_ digest: Digest256) -> Self { Self(space: .hidden, path: "blobs/\(digest.hex)") }

  package init(space: Space, path: String) {
    self.space = space
    self.path = path
  }

  /// The form in the ledger.
  package var description: String { path }

  /// Parses a key of the ledger: an immutable file or a blob. `nil` for any other text, so that external names cannot refer to
  /// other objects.
  package init?(_ text: String) {
    if text.hasPrefix("blobs/") {
      guard let digest = Digest256(hex: text.dropFirst(6)), digest.hex == text.dropFirst(6) else { return nil }
      self = .blob(digest)
    } else {
      guard let path = SitePath(text), !path.isRoot else { return nil }
      self = .file(path)
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.path < right.path }
}

/// The storage's identifier for the content of one object: equal only for equal content.
package struct ObjectTag: Hashable, Sendable {
  package let text: String

  /// Visible ASCII characters, at most 1024; `nil` for any other text.
  package init?(_ text: String) {
    guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    self.text = text
  }
}

package struct StoredObject: Sendable {
  package let bytes: [UInt8]
  package let tag: ObjectTag
}

package struct ObjectFacts: Sendable {
  package let byteCount: UInt64

  /// The SHA-256 of its bytes; `nil` if the storage does not report it.
  package let digest: Digest256?
  package let tag: ObjectTag
}

/// The content of a write: bytes, or a file.
package enum ObjectBody: Sendable {
  case bytes([UInt8])
  case file(FilePlace, byteCount: UInt64, digest: Digest256)

  package var byteCount: UInt64 {
    switch self {
    case .bytes(let bytes): UInt64(bytes.count)
    case .file(_, let byteCount, _): byteCount
    }
  }

  package var digest: Digest256 {
    switch self {
    case .bytes(let bytes): Digest256(hashing: bytes)
    case .file(_, _, let digest): digest
    }
  }
}

package enum WriteCondition: Hashable, Sendable {
  case always
  case absent
  case matching(ObjectTag)

  /// Whether it holds only if an object exists.
  package var needsObject: Bool { if case .matching = self { true } else { false } }
}

package enum WriteOutcome: Hashable, Sendable {
  case written(ObjectTag)

  /// The condition does not hold, possibly because of an earlier, unanswered attempt of the same write.
  case refused
}

/// The request would be signed too late: another publisher may consider the job dead when it arrives.
package struct LeaseOver: Error {}

/// The time limits of publishers, in seconds. `Docs/ObjectStorage.md` explains them.
package struct ProtocolTimes: Hashable, Sendable {
  /// The time after signing at which a request is no longer accepted.
  package var requestLife: Int64 = 1_200
  package var lease: Int64 = 3_600

  /// A lease is renewed when less than this remains.
  package var renewal: Int64 = 2_400
  package var deletion: Int64 = 1_800

  /// The maximum difference between clocks of one storage.
  package var skew: Int64 = 300

  package init() {}
}
