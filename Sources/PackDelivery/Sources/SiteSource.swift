/// A file of a site whose length is known from what was signed.
package struct SiteFile: Hashable, Sendable {
  /// Relative to the site, such as `segments/3f2a...`.
  package let path: String
  package let byteCount: UInt64

  package init(_ path: String, byteCount: UInt64) {
    self.path = path
    self.byteCount = byteCount
  }
}

/// Where the files of a site are read: a server, a folder, an archive.
///
/// Nothing that comes from a source is trusted before it was compared with what was signed.
package protocol SiteSource: Sendable {
  /// The site as errors name it and as trust is pinned to it: a URL or an absolute path.
  var location: String { get }

  /// Whether its place in a file system was given: only there may a site be unsigned.
  var isLocal: Bool { get }

  /// Whether it is a single file that may come from anywhere, so that nothing is pinned to its place.
  var isArchive: Bool { get }

  /// Whether parts of files can be read; what is known so far. False: use ``stream(_:)``.
  var hasRanges: Bool { get }

  /// Reads a small file whose length is not known, at most `limit` bytes, and how the server names its state.
  ///
  /// - Parameters:
  ///   - known: the state of what was read before; nil: nothing was.
  ///   - tally: counts the requests and what comes, whatever becomes of them.
  /// - Returns: nil when the file is what it was then. Never without `known`.
  /// - Throws: `noSite` when there is no such file; `badResponse` when it is longer.
  func readWhole(
    _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile?

  /// Fills `buffer` with the bytes of `file` from `offset` on. A whole file can always be read, whatever ``hasRanges``.
  ///
  /// - Parameter isFresh: nothing that answered before is asked: a connection of its own, no cache between.
  /// - Throws: ``SourceFault``, ``DeliveryError``; `CancellationError`, within one buffer of the network's.
  func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws

  /// Begins to read a file from front to back.
  func stream(_ file: SiteFile) async throws -> any SiteStream

  /// The site is to be read again from its root: what was remembered of files is forgotten.
  ///
  /// - Parameter ignoringValidators: the root is the same as before, so that a file that seemed to have changed has
  ///   only another name for its state: what servers behind one address do. The bytes are compared with what was signed
  ///   in any case.
  func restart(ignoringValidators: Bool)

  /// Ends connections. Nothing may be read afterwards.
  func close() async
}

extension SiteSource {
  package var isArchive: Bool { false }

  /// Reads a small file, whatever is known of it.
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

/// A file that is read from front to back.
package protocol SiteStream: Sendable {
  /// Skips to `offset`, which is not before the end of what was read, and fills `buffer`.
  func read(at offset: UInt64, into buffer: TransferBuffer) async throws
}

/// What a pull has to react to, other than by failing.
package enum SourceFault: Error {
  /// A file is not there or is not what it was: the site may have a newer root. The error is thrown when it has not.
  case siteChanged(DeliveryError)

  /// The server sends whole files only.
  case noRanges
}
