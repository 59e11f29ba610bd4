import PackStore

/// Finds the files that selectors match.
struct ManifestResolver {
  private typealias Entry = ManifestEvaluation.Entry

  private var tree: SourceTree
  private let exclusions: [FileSelector]
  private var problems: ManifestProblems

  /// Entries by path in the pack.
  private var entries: [ExactText: Entry] = [:]
  private var usedExclusions: Set<Int> = []

  /// The number of files and links that the current selector matched, included or excluded.
  private var takenCount = 0, excludedCount = 0

  static func evaluate(_ reading: ManifestReading, sourceRoot: FilePath) -> ManifestEvaluation {
    var resolver = Self(reading, sourceRoot)
    if isFolder(sourceRoot.isEmpty ? "." : sourceRoot) {
      for selector in reading.selectors { resolver.resolve(selector, reading.selectors) }
      resolver.reportUnusedExclusions()
    } else {
      resolver.problems.error(
        reading.sourceRootPosition ?? .init(offset: 0, line: 1, column: 1),
        "the source root '\(sourceRoot)' is not a folder", remedy: "'sourceRoot' is relative to the manifest's folder")
    }
    let sorted = resolver.entries.sorted { $0.key < $1.key }.map(\.value)
    resolver.check(sorted, reading)
    return ManifestEvaluation(
      manifest: reading.manifest, sourceRoot: sourceRoot, selectors: reading.selectors, entries: sorted,
      problems: resolver.problems.sorted)
  }

  private init(_ reading: ManifestReading, _ sourceRoot: FilePath) {
    tree = SourceTree(root: sourceRoot)
    exclusions = reading.selectors.filter { $0.kind == .fileExclusion }
    problems = reading.problems
  }

  // MARK: - Selectors

  private mutating func resolve(_ selector: FileSelector, _ selectors: [FileSelector]) {
    (takenCount, excludedCount) = (0, 0)
    do {
      switch selector.kind {
      case .file: try takeFile(selector, selectors)
      case .directory: try takeFolder(selector, selectors)
      case .filePattern: try takeMatches(selector, selectors)
      case .fileExclusion: break
      }
    } catch {
      let error = error as? PackStoreError
      problems.error(selector.position, error?.finding ?? "the file cannot be read", remedy: "let this user read it")
    }
  }

  private mutating func takeFile(_ selector: FileSelector, _ selectors: [FileSelector]) throws {
    guard let kind = try find(selector, "file") else { return }
    if kind == .folder {
      return problems.error(selector.position, "'\(selector.source)' is a folder", remedy: "select it as a directory")
    }
    take(selector.source, kind, as: selector.destination ?? selector.source, selector, selectors)
    if takenCount == 0, excludedCount > 0 { reportNothing(selector, "an exclusion removes '\(selector.source)'") }
  }

  private mutating func takeFolder(_ selector: FileSelector, _ selectors: [FileSelector]) throws {
    if !selector.source.isEmpty {
      guard let kind = try find(selector, "folder") else { return }
      switch kind {
      case .folder: break
      case .link:
        return problems.error(
          selector.position, "'\(selector.source)' is a symbolic link", remedy: "select the target folder")
      default: return problems.error(selector.position, "'\(selector.source)' is a file", remedy: "select it as a file")
      }
    }
    let prefix = selector.source.isEmpty ? "" : selector.source + "/"
    let destination = selector.destination.map { $0.isEmpty ? "" : $0 + "/" } ?? prefix
    try walk(selector.source, selector) { resolver, path, kind in
      resolver.take(path, kind, as: destination + path.dropFirst(byteCount: prefix.utf8.count), selector, selectors)
    }
    if takenCount == 0 {
      let name = selector.source.isEmpty ? "." : selector.source
      reportNothing(
        selector, "the folder '\(name)' contains no files" + (excludedCount > 0 ? " except excluded files" : ""))
    }
  }

  private mutating func takeMatches(_ selector: FileSelector, _ selectors: [FileSelector]) throws {
    guard let pattern = selector.pattern else { return }
    let folder = Self.fixedFolder(of: selector.source)
    if case .found(.folder) = folder.isEmpty ? .found(.folder) : try tree.find(folder) {
      try walk(folder, selector) { resolver, path, kind in
        if kind != .folder, pattern.matches(path) { resolver.take(path, kind, as: path, selector, selectors) }
      }
    }
    if takenCount == 0 {
      reportNothing(
        selector,
        "the pattern '\(selector.source)' matches no files" + (excludedCount > 0 ? " except excluded files" : ""))
    }
  }

  /// Returns the folder of all paths that a pattern can match: the part before the first wildcard. Only this folder is listed.
  private static func fixedFolder(of pattern: String) -> String {
    var parts = pattern.pathParts
    guard parts.count > 1 else { return "" }
    if parts[0].isEmpty { parts.removeFirst() }
    return parts.dropLast().prefix { !$0.isEmpty && !$0.utf8.contains(where: #"*?[\"#.utf8.contains) }.joined(
      separator: "/")
  }

  private mutating func reportNothing(_ selector: FileSelector, _ message: String) {
    problems.error(selector.position, message, remedy: "change or remove the selector")
  }

  /// Returns the kind of item at the selector's path, or reports a problem and returns `nil`.
  private mutating func find(_ selector: FileSelector, _ wanted: String) throws -> FolderItem.Kind? {
    switch try tree.find(selector.source) {
    case .found(let kind): return kind
    case .missing(let path, let near):
      let isWhole = path.utf8.count == selector.source.utf8.count
      let place = tree.root.isEmpty || tree.root == "." ? "the source root" : "the source root '\(tree.root)'"
      var remedy: String?
      if near.isEmpty {
        remedy =
          selector.source.contains("\\")
          ? "write '/' between the names of a path" : "check the source root"
      }
      problems.error(
        selector.position, "no \(isWhole ? wanted : "folder") '\(path)' exists in \(place)", remedy: remedy,
        suggestions: near)
    case .notAFolder(let path, let isLink):
      problems.error(
        selector.position, "'\(path)' is \(isLink ? "a symbolic link" : "not a folder")",
        remedy: isLink ? "use the path of its target" : "use the path of a folder")
    }
    return nil
  }

  /// Visits all files, links and empty folders below a folder, in bytewise order within each folder.
  private mutating func walk(
    _ folder: String, _ selector: FileSelector, _ visit: (inout Self, String, FolderItem.Kind) -> Void
  ) throws {
    var folders = [folder]
    while let folder = folders.popLast() {
      let listing = try tree.listing(of: folder)
      for name in listing.badNames {
        problems.error(
          selector.position, "'\(folder.isEmpty ? name : "\(folder)/\(name)")' is not valid UTF-8",
          remedy: "rename it to valid UTF-8")
      }
      for (name, kind) in listing.items {
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        guard path.utf8.count <= 4095 else {
          problems.error(
            selector.position, "a path in '\(folder.prefix(100))...' has more than 4095 bytes", remedy: "shorten it")
          continue
        }
        if kind == .folder {
          folders.append(path)
          if try tree.listing(of: path).items.isEmpty { visit(&self, path, .folder) }
        } else {
          visit(&self, path, kind)
        }
      }
    }
  }

  // MARK: - Entries

  private mutating func take(
    _ source: String, _ kind: FolderItem.Kind, as path: String, _ selector: FileSelector, _ selectors: [FileSelector]
  ) {
    guard kind != .other else {
      return problems.warn(
        selector.position, "'\(source)' is not a file, a folder or a link and is skipped",
        remedy: "remove it, or exclude it")
    }
    if let exclusion = exclusions.first(where: { $0.pattern?.matches(source) == true }) {
      usedExclusions.insert(exclusion.index)
      if kind != .folder { excludedCount += 1 }
      return
    }
    if kind != .folder { takenCount += 1 }
    guard path.utf8.count <= 4095, path.pathParts.count <= 2000 else {
      return problems.error(
        selector.destinationPosition, "the path of '\(source.prefix(200))' in the pack is too long",
        remedy: "shorten it")
    }
    if case .link(let target) = kind, let fault = linkFault(target, source: source, path: path) {
      return problems.error(selector.position, "'\(source)' \(fault)", remedy: "exclude it, or replace it with a file")
    }
    let key = ExactText(path)
    guard let other = entries[key] else {
      entries[key] = entry(source, kind, path, selector)
      return
    }
    guard !other.source.utf8.elementsEqual(source.utf8) else { return }
    let line = selectors.first { $0.index == other.selector }?.destinationPosition.line ?? 0
    problems.error(
      selector.destinationPosition, "'\(path)' would come from '\(source)' and from '\(other.source)'",
      remedy: "change one of the destinations; the other selector is in line \(line)")
  }

  private func entry(_ source: String, _ kind: FolderItem.Kind, _ path: String, _ selector: FileSelector) -> Entry {
    switch kind {
    case .file(let byteCount, let isExecutable):
      Entry(
        path: path, source: source, kind: .file, byteCount: byteCount, isExecutable: isExecutable,
        selector: selector.index)
    case .link:
      Entry(path: path, source: source, kind: .link, byteCount: 0, isExecutable: false, selector: selector.index)
    case .folder, .other:
      Entry(path: path, source: source, kind: .folder, byteCount: 0, isExecutable: false, selector: selector.index)
    }
  }

  /// Returns the fault of a link's target: outside the source root, or outside the pack from the link's path there.
  private func linkFault(_ target: [UInt8], source: String, path: String) -> String? {
    if target.isEmpty || target.count > 4095 { return "is a symbolic link with a target that cannot be stored" }
    if target.first == UInt8(ascii: "/") { return "is a symbolic link to an absolute path" }
    func leadsOut(from path: String) -> Bool {
      var depth = path.utf8.count(where: { $0 == UInt8(ascii: "/") })
      for part in target.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
        depth += part.elementsEqual("..".utf8) ? -1 : 1
        if depth < 0 { return true }
      }
      return false
    }
    if leadsOut(from: source) { return "is a symbolic link that leads out of the source root" }
    return leadsOut(from: path) ? "is a symbolic link that leads out of the pack from '\(path)'" : nil
  }

  // MARK: - Checks of the complete pack

  private mutating func reportUnusedExclusions() {
    for exclusion in exclusions where !usedExclusions.contains(exclusion.index) {
      let source = exclusion.source
      let isFolder: Bool
      if let finding = try? tree.find(source), case .found(.folder) = finding, !source.isEmpty {
        isFolder = true
      } else {
        isFolder = false
      }
      problems.warn(
        exclusion.position, "'\(source)' excludes nothing that is selected",
        remedy: isFolder ? "write '\(source)/**' for the files of a folder" : "check the pattern")
    }
  }

  /// Checks the paths of the complete pack for conflicts.
  private mutating func check(_ entries: [Entry], _ reading: ManifestReading) {
    let places = Dictionary(reading.selectors.map { ($0.index, $0.destinationPosition) }) { first, _ in first }
    var prefixes = PathPrefixes()
    for entry in entries {
      guard let position = places[entry.selector] else { continue }
      if let fault = prefixes.add(entry.path, isFile: entry.kind != .folder) {
        report(fault, entry, position, isError: !reading.platforms.isEmpty)
      }
    }
    for (pattern, position) in reading.mappedPaths
    where !entries.contains(where: { $0.kind == .file && pattern.matches($0.path) }) {
      problems.warn(
        position, "the pattern '\(pattern.text)' matches no file of the pack", remedy: "check the pattern")
    }
  }

  private mutating func report(
    _ fault: PathPrefixes.Fault, _ entry: Entry, _ position: TextPosition, isError: Bool
  ) {
    switch fault {
    case .fileIsFolder(let path):
      problems.error(
        position, "'\(path)' would be a file and a folder, of '\(entry.path)'", remedy: "change a destination")
    case .twin(let path, let other):
      let isForm = path == other
      let names = [other, path].map { isForm ? $0.withVisibleForm : $0 }
      let message = "'\(names[0])' and '\(names[1])' differ only by \(difference(between: path, and: other))"
      if isError {
        problems.error(position, message, remedy: "rename one: Apple's disks may not distinguish them")
      } else {
        problems.warn(position, message, remedy: "rename one: some disks do not distinguish them")
      }
    }
  }
}

/// The paths of a pack and their parent folders, for detecting conflicts.
private struct PathPrefixes {
  enum Fault {
    /// A file has the path of a folder that another path needs.
    case fileIsFolder(String)
    /// Two paths that are equal on some disks.
    case twin(String, other: String)
  }

  /// Every path and folder, and whether it is a file.
  private var isFile: [ExactText: Bool] = [:]
  /// The first path of each folder and folded name.
  private var folded: [FoldedPath: String] = [:]

  /// A path with its last part folded: equal for siblings that are one name on some disks.
  private struct FoldedPath: Hashable {
    let folder: [UInt8]
    let name: FoldedName

    init(_ path: ArraySlice<UInt8>) {
      let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path
      folder = Array(path[..<name.startIndex])
      self.name = FoldedName(name)
    }
  }

  /// Adds a path. Paths come in bytewise order. Returns the first conflict.
  mutating func add(_ path: String, isFile: Bool) -> Fault? {
    let bytes = Array(path.utf8)
    for end in bytes.indices.map({ $0 + 1 }) where end == bytes.count || bytes[end] == UInt8(ascii: "/") {
      let prefix = String(decoding: bytes[..<end], as: UTF8.self), isWhole = end == bytes.count
      if let isFileThere = self.isFile[ExactText(prefix)] {
        if isFileThere, !isWhole { return .fileIsFolder(prefix) }
        continue
      }
      self.isFile[ExactText(prefix)] = isWhole && isFile
      let fold = FoldedPath(bytes[..<end])
      if let other = folded[fold] { return .twin(prefix, other: other) }
      folded[fold] = prefix
    }
    return nil
  }
}
