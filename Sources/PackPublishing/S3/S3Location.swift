import PackDelivery
import PackStore

/// A location of objects: `s3://bucket/prefix`.
public struct S3Location: Hashable, Sendable, CustomStringConvertible {
  /// The bucket: 3 to 63 of the characters `a-z 0-9 . -`, and on some servers also `A-Z _`.
  public let bucket: String

  /// The common prefix of all keys, without slashes at its ends; empty: the whole bucket.
  public let prefix: String

  /// The scheme of locations.
  public static let scheme = "s3://"

  private static let keyByteLimit = 900

  /// Whether a location that the user gave is meant as a bucket.
  public static func names(_ text: String) -> Bool { text.lowercased().hasPrefix(scheme) }

  /// - Throws: `invalidLocation`.
  public init(_ text: String) throws {
    func refusal(_ reason: String) -> DeliveryError {
      DeliveryError(.invalidLocation, "not a place in object storage, because \(reason)", at: text)
    }
    guard Self.names(text) else { throw refusal("the place does not begin with s3://") }
    let rest = text.dropFirst(Self.scheme.count)
    let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
    let bucket = parts.first ?? ""
    guard bucket.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]/) != nil else {
      throw refusal("'\(bucket)' is not the name of a bucket")
    }
    let names = parts.dropFirst().filter { !$0.isEmpty }
    guard !names.contains("."), !names.contains("..") else { throw refusal("the prefix contains '.' or '..'") }
    guard rest.utf8.count <= Self.keyByteLimit, rest.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw refusal("the prefix is too long, or has characters that keys cannot have")
    }
    self.bucket = String(bucket)
    prefix = names.joined(separator: "/")
  }

  init(bucket: String, prefix: String) {
    self.bucket = bucket
    self.prefix = prefix
  }

  public var description: String { Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix) }

  /// Returns the default location of the publishers' own files: next to the site, not below it.
  ///
  /// - Throws: `invalidLocation` for a site at the top of a bucket, which has no place next to it.
  public func publisherLocation() throws -> S3Location {
    guard !prefix.isEmpty else {
      var error = DeliveryError(
        .invalidLocation, "the site is the whole bucket, which leaves no place for private files", at: description)
      error.specificRemedy = "publish below a prefix, such as \(self)/packs, or name a place for the ledger"
      throw error
    }
    return S3Location(bucket: bucket, prefix: prefix + ".publisher")
  }

  /// Whether objects at another location are also at this one.
  func contains(_ other: S3Location) -> Bool {
    bucket == other.bucket && (prefix.isEmpty || other.prefix == prefix || other.prefix.hasPrefix(prefix + "/"))
  }

  func key(_ path: String) -> String { prefix.isEmpty ? path : prefix + "/" + path }
}
