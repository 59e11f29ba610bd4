package import PackFormats
package import PackStore

/// The seam between a site and where it is stored: what the protocol of `Docs/ObjectStorage.md` needs of a storage. ``S3Storage``
/// is one; another kind is another type that conforms to this.
///
/// A storage has two spaces of keys, a public and a private one, for one site.
///
/// Invariants of every storage:
/// - A write with a condition happens only where the condition holds when it arrives.
/// - What was written is read by every read that begins later.
/// - A request that was signed until some moment of ``now()`` cannot arrive later than ``requestLife`` after it.
///
/// An operation tries again what may pass, and throws when it did not: then it is not known whether it happened.
package protocol ObjectStorage: Sendable {
  /// How errors name it: a URL.
  var location: String { get }

  /// Distinguishes the storage from every other one, also from an equally named bucket of another server.
  var identity: String { get }

  /// Whether it may be a server that ignores conditions: then ``BucketCheck`` is run before the first publication.
  var needsCheck: Bool { get }

  /// Seconds since 1970, by the storage's clock, and not ahead of it.
  func now() async throws -> Int64

  /// An object as a whole; nil: there is none.
  ///
  /// - Throws: `badResponse` when it has more than `limit` bytes; `unreachable`, `denied`.
  func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject?

  /// What is known of an object without reading it; nil: there is none.
  func examine(_ key: ObjectKey) async throws -> ObjectFacts?

  /// Hands out the bytes of an object in pieces. A try that broke off ends with `restart`, and the next begins from the front.
  ///
  /// - Returns: false when there is no such object.
  func fetch(
    _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool

  /// A part of an object; nil: there is no such object. Fewer bytes come where it ends before.
  ///
  /// - Parameter range: not empty.
  func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]?

  /// Writes an object as a whole.
  ///
  /// - Parameter latest: no request is signed later than this, by ``now()``; nil: whenever.
  /// - Throws: ``LeaseOver`` when it is later; `unreachable`, `denied`.
  func write(_ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?) async throws
    -> WriteOutcome

  /// Deletes an object, if there is one.
  ///
  /// - Returns: whether every request that was sent had a final answer. If not, one may still arrive.
  func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool

  /// Ends all connections.
  func close() async
}

extension ObjectStorage {
  package var identity: String { location }
  package var needsCheck: Bool { false }
}

/// Names an object of a site.
package struct ObjectKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  package enum Space: Hashable, Sendable { case shared, hidden }

  /// Public, or for publishers alone.
  package let space: Space

  /// Below the prefix of the space.
  package let path: String

  package static let ledger = Self(space: .hidden, path: "ledger")

  /// A file of the site that devices fetch.
  package static func file(_ path: SitePath) -> Self { Self(space: .shared, path: path.description) }

  /// A private file, by its content.
  package static func blob(_ digest: Digest256) -> Self { Self(space: .hidden, path: "blobs/\(digest.hex)") }

  package init(space: Space, path: String) {
    self.space = space
    self.path = path
  }

  /// As the ledger writes it.
  package var description: String { path }

  /// Reads what the ledger says: a file that does not change, or a blob. Nil for anything else, so that no name from outside
  /// leads anywhere else.
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

/// What a storage calls one content of one object: equal only for equal content.
package struct ObjectTag: Hashable, Sendable {
  package let text: String

  /// Visible characters of ASCII, 1024 at most; nil for anything else.
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

  /// The SHA-256 of its bytes; nil: the storage does not say it.
  package let digest: Digest256?
  package let tag: ObjectTag
}

/// What is written: some bytes, or a file.
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

  /// Whether it holds only where an object is there.
  package var needsObject: Bool { if case .matching = self { true } else { false } }
}

package enum WriteOutcome: Hashable, Sendable {
  case written(ObjectTag)

  /// The condition does not hold: perhaps because of a try of this very write that had no answer.
  case refused
}

/// What would have been sent would be signed too late: another publisher may take the job for dead by the time it arrives.
package struct LeaseOver: Error {}

/// How long what a publisher does counts, in seconds. `Docs/ObjectStorage.md` says why.
package struct ProtocolTimes: Hashable, Sendable {
  /// After it was signed no request is taken any more.
  package var requestLife: Int64 = 1_200
  package var lease: Int64 = 3_600

  /// A lease is renewed when it has less than this.
  package var renewal: Int64 = 2_400
  package var deletion: Int64 = 1_800

  /// Clocks of one storage disagree by no more.
  package var skew: Int64 = 300

  package init() {}
}
