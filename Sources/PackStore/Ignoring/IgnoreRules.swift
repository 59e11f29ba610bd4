/// Which files of a folder are not meant, by patterns as gitignore(5) has them.
///
/// Several lists may speak of a path. The first of these that has a pattern for it decides, and in it the last such pattern:
///
/// 1. ``patterns``, relative to the folder that is installed;
/// 2. the files `.packignore` in the folders that lead to it, the innermost first, each relative to its own folder;
/// 3. ``lists``, the last one first, relative to the folder that is installed;
/// 4. ``standardPatterns``, unless ``usesStandardPatterns`` is false.
///
/// What lies in a folder that is left out is left out, whatever is said of it. The files `.packignore` themselves are left out
/// unless a pattern says otherwise.
public struct IgnoreRules: Hashable, Sendable {
  /// Each a line as in a list; they win over all lists.
  public var patterns: [String]

  /// Texts of several lines.
  public var lists: [String]

  /// Whether files `.packignore` count.
  public var readsIgnoreFiles = true

  /// Whether what systems leave behind is left out.
  public var usesStandardPatterns = true

  public init(patterns: [String] = [], lists: [String] = []) {
    self.patterns = patterns
    self.lists = lists
  }

  /// The name of files with patterns for the folder that they lie in.
  public static let ignoreFileName = ".packignore"

  /// What macOS and Windows leave in folders, and what no one means to ship.
  public static let standardPatterns = [
    ".DS_Store", "._*", ".AppleDouble/", ".Spotlight-V100/", ".Trashes/", ".fseventsd/", ".TemporaryItems/",
    "Thumbs.db", "Thumbs.db:encryptable", "ehthumbs.db", "desktop.ini", "$RECYCLE.BIN/", "System Volume Information/",
    ".directory", ".Trash-*/", ".nfs*",
  ]

  /// More than a list has.
  static let listByteLimit = 1 << 20
}

/// Something of a folder that was left out, with all that lies in it.
public struct IgnoredPath: Hashable, Codable, Sendable {
  /// Relative to the folder.
  public let path: String
  public let isFolder: Bool

  /// The pattern that means it.
  public let pattern: String

  /// Where the pattern stands: the path of a file `.packignore`, relative to the folder; nil: in the options.
  public let file: String?

  /// It is one of the patterns for what systems leave behind.
  public let isStandard: Bool
}

/// Patterns that stand together, the last one of which decides.
struct IgnoreList {
  private let patterns: [IgnorePattern]

  init(lines: some Sequence<some StringProtocol>) { patterns = lines.compactMap { IgnorePattern($0) } }

  /// Reads lines that end with a line feed, or a carriage return and a line feed. A byte-order mark is passed over.
  init(text: String) {
    let body = text.utf8.starts(with: [0xef, 0xbb, 0xbf]) ? Substring(text.utf8.dropFirst(3)) : text[...]
    self.init(
      lines: body.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
      })
  }

  /// The pattern that decides about a path, which is relative to the folder of the list.
  ///
  /// - Parameter name: its last part.
  func decision(_ path: ArraySlice<UInt8>, name: ArraySlice<UInt8>, isFolder: Bool) -> IgnorePattern? {
    patterns.last { $0.matches(path, name: name, isFolder: isFolder) }
  }
}

/// Applies rules to a folder while it is walked through.
package final class IgnoreWalk {
  private let folder: FilePath
  private let rules: IgnoreRules
  private let own: IgnoreList
  private let lists: [IgnoreList]
  private let standard: IgnoreList?

  /// The path of the folder that was asked for last, and it and all above it, the outermost first.
  private var parent: [UInt8] = []
  private var levels: [Level] = []

  /// What was left out, as far as ``recordLimit`` goes.
  private(set) var ignored: [IgnoredPath] = []
  private(set) var ignoredCount = 0

  /// A list that could not be read.
  private(set) var failure: (any Error)?

  private static let recordLimit = 10_000

  package init(_ folder: FilePath, _ rules: IgnoreRules) {
    self.folder = folder
    self.rules = rules
    own = IgnoreList(lines: rules.patterns)
    lists = rules.lists.reversed().map(IgnoreList.init(text:))
    standard = rules.usesStandardPatterns ? IgnoreList(lines: IgnoreRules.standardPatterns) : nil
  }

  /// Whether something of the folder is left out. The folders that lead to it are not.
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

  /// Whether a path is left out, or a folder that leads to it.
  ///
  /// - Throws: the errors of reading a file `.packignore`.
  package func ignoresAny(of path: String, isFolder: Bool) throws -> Bool {
    let slashes = path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: "/") }
    let isIgnored =
      slashes.contains { ignores(String(path[..<$0]), isFolder: true) } || ignores(path, isFolder: isFolder)
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

  /// A folder that leads to a path: its own path ends at `end` of it, the one relative to it begins at `begin`.
  private struct Level {
    let end: Int
    let list: IgnoreList?

    var begin: Int { end == 0 ? 0 : end + 1 }
  }

  /// Makes the levels those of a folder. What lies in one comes together mostly, and folders in order: lists of those that lead to
  /// the one before are kept.
  ///
  /// - Throws: `refused` for a list that is too long or is no UTF-8; `ioError`, `wrongKind`.
  private func enter(_ folder: ArraySlice<UInt8>) throws {
    guard levels.isEmpty || !areEqual(parent[...], folder) else { return }
    while let last = levels.last, !areEqual(parent[..<last.end], folder.prefix(last.end)) || !isPart(last.end, folder) {
      levels.removeLast()
    }
    parent = Array(folder)
    if levels.isEmpty { levels.append(Level(end: 0, list: try read(Self.ignoreFilePath(in: [])))) }
    while let last = levels.last, last.end < parent.count {
      // A part has a byte at least: each level ends behind the one above, whatever the path.
      let end = parent[(last.end + 1)...].firstIndex(of: UInt8(ascii: "/")) ?? parent.count
      levels.append(Level(end: end, list: try read(Self.ignoreFilePath(in: parent[..<end]))))
    }
  }

  /// Whether the first `end` bytes of a path are all of some parts of it.
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
      // A folder behind a link that is followed has no list of its own.
      return nil
    }
  }

  /// Most folders have no list. One call says so; opening a file enters each folder on the way to it.
  private func mayExist(_ name: String) -> Bool {
    let path = "\(folder)/\(name)"
    return path.utf8.count >= Self.pathLimit || pathExists(FilePath(path))
  }

  /// The most bytes that the system takes as a path.
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
