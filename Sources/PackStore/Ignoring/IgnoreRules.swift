/// The files of a folder to skip, as patterns of gitignore(5).
///
/// The first list with a matching pattern wins; within a list, the last match wins. The lists are, in this order:
///
/// 1. ``patterns``, relative to the installed folder;
/// 2. the files `.packignore` in the parent folders of the path, the innermost first, each relative to its own folder;
/// 3. ``lists``, the last one first, relative to the installed folder;
/// 4. ``standardPatterns``, unless ``usesStandardPatterns`` is false.
///
/// Everything in a skipped folder is skipped, regardless of other patterns. The files `.packignore` themselves are skipped unless a
/// pattern keeps them.
public struct IgnoreRules: Hashable, Sendable {
  /// Patterns in the form of lines of a list; they take precedence over all lists.
  public var patterns: [String]

  /// Texts with one pattern per line.
  public var lists: [String]

  /// Whether files `.packignore` are read.
  public var readsIgnoreFiles = true

  /// Whether to skip files that operating systems create.
  public var usesStandardPatterns = true

  public init(patterns: [String] = [], lists: [String] = []) {
    self.patterns = patterns
    self.lists = lists
  }

  /// The name of files with patterns for their folder.
  public static let ignoreFileName = ".packignore"

  /// Files that macOS and Windows create in folders, and that are never assets.
  public static let standardPatterns = [
    ".DS_Store", "._*", ".AppleDouble/", ".Spotlight-V100/", ".Trashes/", ".fseventsd/", ".TemporaryItems/",
    "Thumbs.db", "Thumbs.db:encryptable", "ehthumbs.db", "desktop.ini", "$RECYCLE.BIN/", "System Volume Information/",
    ".directory", ".Trash-*/", ".nfs*",
  ]

  /// The maximum size of a list.
  static let listByteLimit = 1 << 20
}

/// A skipped file or folder, including everything in it.
public struct IgnoredPath: Hashable, Codable, Sendable {
  /// The path relative to the folder.
  public let path: String
  public let isFolder: Bool

  /// The pattern that matches it.
  public let pattern: String

  /// The path of the `.packignore` file with the pattern, relative to the folder; `nil` for a pattern of the options.
  public let file: String?

  /// Whether it is one of the standard patterns.
  public let isStandard: Bool
}

/// The patterns of one list, in which the last match wins.
struct IgnoreList {
  private let patterns: [IgnorePattern]

  init(lines: some Sequence<some StringProtocol>) { patterns = lines.compactMap { IgnorePattern($0) } }

  /// Reads lines that end with a line feed, or a carriage return and a line feed. Skips a byte order mark.
  init(text: String) {
    let body = text.utf8.starts(with: [0xef, 0xbb, 0xbf]) ? Substring(text.utf8.dropFirst(3)) : text[...]
    self.init(
      lines: body.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
      })
  }

  /// Returns the pattern that decides about a path, relative to the folder of the list.
  ///
  /// - Parameter name: the last part of the path.
  func decision(_ path: ArraySlice<UInt8>, name: ArraySlice<UInt8>, isFolder: Bool) -> IgnorePattern? {
    patterns.last { $0.matches(path, name: name, isFolder: isFolder) }
  }
}

/// Applies rules to a folder during a walk.
package final class IgnoreWalk {
  private let folder: FilePath
  private let rules: IgnoreRules
  private let own: IgnoreList
  private let lists: [IgnoreList]
  private let standard: IgnoreList?

  /// The path of the last folder, with its lists and those of all parent folders, the outermost first.
  private var parent: [UInt8] = []
  private var levels: [Level] = []

  /// The last folder of ``ignoresAny(of:isFolder:)`` that is not skipped, and no parent folder of it.
  private var kept: [UInt8] = []

  /// The skipped paths, up to ``recordLimit``.
  private(set) var ignored: [IgnoredPath] = []
  private(set) var ignoredCount = 0

  /// The error of a list that could not be read.
  private(set) var failure: (any Error)?

  private static let recordLimit = 10_000

  package init(_ folder: FilePath, _ rules: IgnoreRules) {
    self.folder = folder
    self.rules = rules
    own = IgnoreList(lines: rules.patterns)
    lists = rules.lists.reversed().map(IgnoreList.init(text:))
    standard = rules.usesStandardPatterns ? IgnoreList(lines: IgnoreRules.standardPatterns) : nil
  }

  /// Whether a path is skipped. Its parent folders are not.
  func ignores(_ path: String, isFolder: Bool) -> Bool {
    guard failure == nil else { return false }
    do {
      guard let (pattern, file, isStandard) = try decide(path, isFolder) else { return false }
      guard !pattern.isNegated else { return false }
      record(.init(path: path, isFolder: isFolder, pattern: pattern.text, file: file, isStandard: isStandard))
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Whether a path or one of its parent folders is skipped.
  ///
  /// - Throws: the errors of reading a file `.packignore`.
  package func ignoresAny(of path: String, isFolder: Bool) throws -> Bool {
    let bytes = Array(path.utf8), sharedCount = zip(bytes, kept).prefix { $0 == $1 }.count
    var end = 0, isIgnored = false
    for place in bytes.indices where bytes[place] == UInt8(ascii: "/") {
      let isKept = place <= sharedCount && isPart(place, kept[...])
      isIgnored = !isKept && ignores(String(decoding: bytes[..<place], as: UTF8.self), isFolder: true)
      if isIgnored { break }
      end = place
    }
    kept = Array(bytes[..<end])
    isIgnored = isIgnored || ignores(path, isFolder: isFolder)
    if let failure { throw failure }
    return isIgnored
  }

  private typealias Decision = (pattern: IgnorePattern, file: String?, isStandard: Bool)

  private func decide(_ path: String, _ isFolder: Bool) throws -> Decision? {
    let bytes = Array(path.utf8)[...], name = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    if let pattern = own.decision(bytes, name: name, isFolder: isFolder) { return (pattern, nil, false) }
    if rules.readsIgnoreFiles, let decision = try decideByFiles(bytes, name, isFolder) { return decision }
    for list in lists {
      if let pattern = list.decision(bytes, name: name, isFolder: isFolder) { return (pattern, nil, false) }
    }
    return standard?.decision(bytes, name: name, isFolder: isFolder).map { ($0, nil, true) }
  }

  private func decideByFiles(
    _ path: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>, _ isFolder: Bool
  ) throws -> Decision? {
    try enter(path[..<max(name.startIndex - 1, 0)])
    for level in levels.reversed() {
      guard let list = level.list else { continue }
      if let pattern = list.decision(path[level.begin...], name: name, isFolder: isFolder) {
        return (pattern, Self.ignoreFilePath(in: parent[..<level.end]), false)
      }
    }
    guard !isFolder, name.elementsEqual(IgnoreRules.ignoreFileName.utf8) else { return nil }
    return IgnorePattern(IgnoreRules.ignoreFileName).map { ($0, nil, false) }
  }

  /// A parent folder of a path: its own path ends at `end`, and paths relative to it begin at `begin`.
  private struct Level {
    let end: Int
    let list: IgnoreList?

    var begin: Int { end == 0 ? 0 : end + 1 }
  }

  /// Sets the levels to those of a folder. Consecutive paths are mostly in one folder, so lists of common parent folders are kept.
  ///
  /// - Throws: `refused` for a list that is too long or not UTF-8; `ioError`, `wrongKind`.
  private func enter(_ folder: ArraySlice<UInt8>) throws {
    guard levels.isEmpty || !areEqual(parent[...], folder) else { return }
    while let last = levels.last, !areEqual(parent[..<last.end], folder.prefix(last.end)) || !isPart(last.end, folder) {
      levels.removeLast()
    }
    parent = Array(folder)
    if levels.isEmpty { levels.append(Level(end: 0, list: try read(Self.ignoreFilePath(in: [])))) }
    while let last = levels.last, last.end < parent.count {
      // Each part has at least one byte, so each level ends after its parent.
      let end = parent[(last.end + 1)...].firstIndex(of: UInt8(ascii: "/")) ?? parent.count
      levels.append(Level(end: end, list: try read(Self.ignoreFilePath(in: parent[..<end]))))
    }
  }

  /// Whether the first `end` bytes of a path consist of whole parts.
  private func isPart(_ end: Int, _ path: ArraySlice<UInt8>) -> Bool {
    end == 0 || end == path.count || (end < path.count && path[path.startIndex + end] == UInt8(ascii: "/"))
  }

  private func areEqual(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    one.count == other.count
      && one.withUnsafeBytes { one in other.withUnsafeBytes { other in one.elementsEqual(other) } }
  }

  private static func ignoreFilePath(in folder: ArraySlice<UInt8>) -> String {
    let name = IgnoreRules.ignoreFileName
    return folder.isEmpty ? name : "\(String(decoding: folder, as: UTF8.self))/\(name)"
  }

  private func read(_ name: String) throws -> IgnoreList? {
    guard mayExist(name) else { return nil }
    do {
      let file = try InputFile(name, in: folder)
      guard try file.byteCount <= UInt64(IgnoreRules.listByteLimit) else {
        throw PackStoreError(.refused, "the list of patterns has more than 1 MiB", file: file.place.text)
      }
      guard let text = String(validating: try file.contents(limit: IgnoreRules.listByteLimit), as: UTF8.self) else {
        throw PackStoreError(.refused, "the list of patterns is not UTF-8", file: file.place.text)
      }
      return IgnoreList(text: text)
    } catch let error as PackStoreError where error.code == .notFound || error.systemError == .notDirectory {
      // A folder behind a followed link has no list of its own.
      return nil
    }
  }

  /// Most folders have no list. This check is one call; opening a file opens each parent folder.
  private func mayExist(_ name: String) -> Bool {
    let path = "\(folder)/\(name)"
    return path.utf8.count >= Self.pathLimit || pathExists(FilePath(path))
  }

  /// The maximum length of a path in bytes.
  #if os(Linux)
    private static let pathLimit = 4_096
  #else
    private static let pathLimit = 1_024
  #endif

  private func record(_ path: IgnoredPath) {
    ignoredCount += 1
    if ignored.count < Self.recordLimit { ignored.append(path) }
  }
}
