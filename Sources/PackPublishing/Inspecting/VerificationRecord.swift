import PackFormats
import PackStore

/// The files that a verification found intact, so that it can continue after an interruption.
///
/// As a file it is UTF-8 text: the line `packstore verified 1`, then one path on each line. Files of a site never change, except roots, which
/// are not recorded.
struct VerificationRecord {
  private let file: FilePath?
  private var paths: Set<SitePath> = []
  private var unwrittenCount = 0

  private static let title = "packstore verified 1"
  private static let byteCountLimit = 256 << 20

  /// Files between two writes of the record.
  private static let interval = 64

  /// - Throws: `corrupt`, `ioError`; `invalidArgument` for `.` and `..`.
  init(_ file: FilePath?) throws {
    self.file = file
    guard let file, pathExists(file) else { return }
    let bytes = try InputFile(file).contents(limit: Self.byteCountLimit)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let listed = lines.dropFirst().dropLast().map { SitePath(String($0)) }
    guard lines.first.map(String.init) == Self.title, lines.last == "", !listed.contains(nil) else {
      var error = PackStoreError(.corrupt, "not a record of a verification", file: file.string)
      error.specificRemedy = "name another file, or delete this one to verify all files"
      throw error
    }
    paths = Set(listed.compactMap { $0 })
  }

  func contains(_ path: SitePath) -> Bool { paths.contains(path) }

  mutating func add(_ path: SitePath) throws {
    guard file != nil, !path.isRoot else { return }
    paths.insert(path)
    unwrittenCount += 1
    if unwrittenCount >= Self.interval { try write() }
  }

  mutating func write() throws {
    guard let file, let name = file.lastComponent?.string, unwrittenCount > 0 else { return }
    let folder = file.removingLastComponent()
    let text = ([Self.title] + paths.map(\.description).sorted()).map { $0 + "\n" }.joined()
    try replaceFile(name, in: folder.isEmpty ? "." : folder, by: Array(text.utf8), draft: name + ".new")
    unwrittenCount = 0
  }

  func remove() throws {
    guard let file, pathExists(file) else { return }
    try removeFile(FilePlace(file))
  }
}
