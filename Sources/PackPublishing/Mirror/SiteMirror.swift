import PackDelivery
import PackFormats
import PackStore

/// A file of a site that a mirror copies: its path in the site, its length, and the digests of its content.
struct MirroredFile: Sendable {
  let path: String
  let byteCount: UInt64

  /// The parts with known digests, in order. Offsets are relative to ``begin``.
  let parts: [ContentChecker.Part]

  /// The offset of the first byte to copy.
  let begin: UInt64

  /// The path of the copy.
  let name: String

  /// The number of bytes to copy.
  var copiedByteCount: UInt64 { byteCount - begin }

  /// - Parameters:
  ///   - parts: empty if nothing but the length is known.
  ///   - begin: at most `byteCount`.
  ///   - name: the path of the copy; `nil`: the same path.
  init(
    _ path: String, byteCount: UInt64, parts: [ContentChecker.Part] = [], from begin: UInt64 = 0, as name: String? = nil
  ) {
    precondition(begin <= byteCount)
    self.path = path
    self.byteCount = byteCount
    self.parts = parts
    self.begin = begin
    self.name = name ?? path
  }

  /// A file with the SHA-256 of all its bytes.
  init(_ path: String, byteCount: UInt64, digest: Digest256) {
    let whole = ContentChecker.Part(offset: 0, byteCount: byteCount, digest: digest)
    self.init(path, byteCount: byteCount, parts: byteCount == 0 ? [] : [whole])
  }
}

/// A place from which a mirror reads the files of a site.
protocol MirrorSource: Sendable {
  /// Passes on the bytes of a file in order. After an interrupted attempt, calls `restart` and begins again.
  ///
  /// - Parameter isFresh: whether to bypass caches, because the last bytes were damaged.
  /// - Throws: its own error if the file does not exist.
  func fetch(
    _ file: MirroredFile, isFresh: Bool, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws

  /// Returns the error for a file with other content.
  func damage(of file: MirroredFile) -> any Error
}

/// A place to which a mirror copies the files of a site.
protocol MirrorTarget: Sendable {
  /// Whether an immutable file exists there with its length. Files get their names when they are complete.
  func has(_ file: MirroredFile) async throws -> Bool

  /// Returns a place on this machine for the bytes of a file.
  func draft(of file: MirroredFile) -> FilePlace

  /// Gives a complete file its name, and replaces a file with that name.
  func finish(_ draft: FilePlace, as file: MirroredFile) async throws
}

/// The one way in which files of a site get from one place to another: each is written as a draft, compared with its length and
/// its digests, and renamed. A copy can be interrupted at any moment; the next one continues with the missing files.
///
/// The caller decides the order: immutable files first, then `roots/`, then `root`.
struct SiteMirror: Sendable {
  let source: any MirrorSource
  let target: any MirrorTarget

  /// Whether drafts are made durable before they are renamed.
  var syncs = true

  /// Copies a file.
  ///
  /// - Throws: the error of the source if the file is missing or damaged; `noSpace`, `ioError`.
  func copy(_ file: MirroredFile) async throws {
    let place = target.draft(of: file)
    for isFresh in [false, true] {
      let receiver = MirrorReceiver(place, file)
      try receiver.begin()
      try await source.fetch(file, isFresh: isFresh, restart: receiver.begin, receiver.write)
      guard try receiver.end(syncs: syncs) else { continue }
      return try await target.finish(place, as: file)
    }
    try? removeFile(place)
    throw source.damage(of: file)
  }

  /// Copies files, several at a time.
  ///
  /// - Returns: the number of copied bytes.
  @discardableResult
  func copy(_ files: some Sequence<MirroredFile>, parallelCount: Int) async throws -> UInt64 {
    // The longest first, so that none of them is the last one, on a connection of its own.
    let queue = files.sorted { ($1.byteCount, $0.path) < ($0.byteCount, $1.path) }
    try await forEachInParallel(queue, count: parallelCount) { file in
      try Task.checkCancellation()
      try await copy(file)
    }
    return queue.map(\.copiedByteCount).clampedSum()
  }
}

/// A file that arrives in pieces, and may start again.
private final class MirrorReceiver {
  private let place: FilePlace
  private let file: MirroredFile
  private var output: NewFile?
  private var checker: ContentChecker

  init(_ place: FilePlace, _ file: MirroredFile) {
    self.place = place
    self.file = file
    checker = ContentChecker(file.parts)
  }

  func begin() throws {
    output = try NewFile(place)
    output?.makeReadable()
    checker = ContentChecker(file.parts)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try output?.write(bytes)
    checker.feed(bytes)
  }

  /// - Returns: whether the file has its length and its digests.
  func end(syncs: Bool) throws -> Bool {
    guard checker.position == file.copiedByteCount, checker.isIntact else { return false }
    if syncs { try output?.sync() }
    output = nil
    return true
  }
}
