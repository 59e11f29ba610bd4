/// A file of a site, with its length from a signed file.
package struct SiteFile: Hashable, Sendable {
  /// The path relative to the site, such as `segments/3f2a...`.
  package let path: String
  package let byteCount: UInt64

  package init(_ path: String, byteCount: UInt64) {
    self.path = path
    self.byteCount = byteCount
  }
}

/// The access to a site's files: on a server, in a folder, or in an archive.
///
/// Data from a source is not trusted until it matches a signed digest.
package protocol SiteSource: Sendable {
  /// The site's name in errors and for pinning trust: a URL or an absolute path.
  var location: String { get }

  /// Whether the user gave its place in a file system: only there may a site be unsigned.
  var isLocal: Bool { get }

  /// Whether it is a single file that may come from anywhere, so that nothing is pinned to its place.
  var isArchive: Bool { get }

  /// Whether parts of files can be read, as far as known. If false, use ``stream(_:)``.
  var hasRanges: Bool { get }

  /// Reads a small file of unknown length, at most `limit` bytes, and the server's identifiers for its state.
  ///
  /// - Parameters:
  ///   - known: the state of an earlier reading; `nil`: none.
  ///   - tally: counts the requests and the received bytes, even if the call fails.
  /// - Returns: `nil` if the file is still in the known state. Never `nil` without `known`.
  /// - Throws: `noSite` if the file does not exist; `badResponse` if it is longer.
  func readWhole(
    _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile?

  /// The `Date` of the last answer that confirmed a known state in ``readWhole(_:upTo:unless:counting:)``, in nanoseconds since
  /// 1970; `nil` if it had none.
  var confirmedAt: Int64? { get }

  /// Fills `buffer` with the bytes of `file` from `offset` on. A whole file can always be read, regardless of ``hasRanges``.
  ///
  /// - Parameter isFresh: whether to use a new connection and bypass caches.
  /// - Throws: ``SourceFault``, ``DeliveryError``; `CancellationError`, within one network buffer.
  func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws

  /// Begins to read a file sequentially.
  func stream(_ file: SiteFile) async throws -> any SiteStream

  /// Prepares to read the site again from its root: forgets the state of files.
  ///
  /// - Parameter ignoringValidators: whether the root is unchanged, so that a file which seemed to change has only another
  ///   validator, as with several servers at one address. The bytes are checked against signed digests in any case.
  func restart(ignoringValidators: Bool)

  /// Closes connections. Nothing may be read afterwards.
  func close() async
}

extension SiteSource {
  package var isArchive: Bool { false }

  package var confirmedAt: Int64? { nil }

  /// Reads a small file unconditionally.
  package func readWhole(
    _ path: String, upTo limit: Int, counting tally: WireTally = WireTally()
  ) async throws -> WholeFile {
    guard let file = try await readWhole(path, upTo: limit, unless: nil, counting: tally) else {
      preconditionFailure("unreachable: nothing is unchanged without a condition")
    }
    return file
  }

  package func place(of path: String) -> String { location.hasSuffix("/") ? location + path : location + "/" + path }
}

/// A file that is read sequentially.
package protocol SiteStream: Sendable {
  /// Skips to `offset`, which must not precede the end of the last read, and fills `buffer`.
  func read(at offset: UInt64, into buffer: TransferBuffer) async throws
}

/// Faults that a pull handles other than by failing.
package enum SourceFault: Error {
  /// A file is missing or has changed: the site may have a newer root. The error is thrown if it does not.
  case siteChanged(DeliveryError)

  /// The server sends whole files only.
  case noRanges
}
