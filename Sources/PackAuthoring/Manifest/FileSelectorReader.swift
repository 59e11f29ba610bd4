import PackStore

/// Reads the list `fileSelectors`. A fault in one entry does not prevent reading the others.
struct FileSelectorReader {
  private(set) var selectors: [FileSelector] = []
  private(set) var problems: ManifestProblems

  init(problems: ManifestProblems) { self.problems = problems }

  static let keys = singleKeys + pairs.flatMap { [$0.source, $0.destination] }

  private static let singleKeys = ["file", "directory", "filePattern", "fileExclusion"]
  private static let pairs = [
    (source: "fileSource", destination: "fileDestination"),
    (source: "directorySource", destination: "directoryDestination"),
  ]

  mutating func read(_ value: JSONValue) {
    guard let items = value.array else {
      return problems.error(value.position, "'fileSelectors' must be a list, not \(value.kind)")
    }
    let hadErrors = problems.hasErrors
    for (index, item) in items.enumerated() { read(item, index) }
    if items.isEmpty {
      problems.error(
        value.position, "'fileSelectors' is empty", remedy: #"add a selector, such as { "directory": "Textures" }"#)
    } else if !selectors.isEmpty, selectors.allSatisfy({ $0.kind == .fileExclusion }), hadErrors == problems.hasErrors {
      problems.error(
        value.position, "'fileSelectors' only excludes files", remedy: "add a selector for the files of the pack")
    }
  }

  private mutating func read(_ value: JSONValue, _ index: Int) {
    guard let members = value.object else {
      let remedy = value.string.map { #"write { "file": "\#($0)" }, or { "directory": "\#($0)" }"# }
      return problems.error(value.position, "a file selector must be an object, not \(value.kind)", remedy: remedy)
    }
    let known = members.filter { Self.keys.contains($0.name) }
    for member in members where !Self.keys.contains(member.name) {
      let nearest = nearestNames(to: member.name, among: Self.keys)
      problems.error(
        member.position, "unknown key '\(member.name)' in a file selector",
        remedy: nearest.isEmpty ? "remove it" : nil, suggestions: nearest)
    }
    guard let first = known.first else {
      if members.isEmpty {
        problems.error(value.position, "a file selector is empty", remedy: "name a file or a directory in it")
      }
      return
    }
    if let pair = Self.pairs.first(where: { $0.source == first.name || $0.destination == first.name }) {
      readPair(known, pair, value, index)
    } else {
      for member in known.dropFirst() { reportMore(member, than: first) }
      readSingle(first, index)
    }
  }

  private mutating func reportMore(_ member: JSONMember, than first: JSONMember) {
    problems.error(
      member.position, "a file selector has '\(first.name)' and '\(member.name)'", remedy: "split it into two selectors"
    )
  }

  private mutating func readSingle(_ member: JSONMember, _ index: Int) {
    guard let text = text(member) else { return }
    switch member.name {
    case "file": add(.file, path(text, member, .source, isFolder: false), nil, member, nil, index)
    case "directory": add(.directory, path(text, member, .source, isFolder: true), nil, member, nil, index)
    default:
      do {
        let pattern = try PathPattern(text)
        try requireRelative(text)
        add(member.name == "filePattern" ? .filePattern : .fileExclusion, text, nil, member, nil, index, pattern)
      } catch {
        let error = error as? PackStoreError
        problems.error(member.value.position, error?.finding ?? "invalid pattern", remedy: error?.specificRemedy)
      }
    }
  }

  private mutating func readPair(
    _ members: [JSONMember], _ pair: (source: String, destination: String), _ value: JSONValue, _ index: Int
  ) {
    let source = members.first { $0.name == pair.source }, destination = members.first { $0.name == pair.destination }
    for member in members where member.name != pair.source && member.name != pair.destination {
      reportMore(member, than: source ?? destination ?? member)
    }
    guard let source, let destination else {
      let (present, missing) = source == nil ? (pair.destination, pair.source) : (pair.source, pair.destination)
      return problems.error(
        value.position, "'\(present)' needs '\(missing)'", remedy: "add '\(missing)' to the same selector")
    }
    let isFolder = pair.source == "directorySource"
    let from = text(source).flatMap { path($0, source, .source, isFolder: isFolder) }
    let to = text(destination).flatMap { path($0, destination, .destination, isFolder: isFolder) }
    guard let to else { return }
    add(isFolder ? .directory : .file, from, to, source, destination, index)
  }

  private mutating func add(
    _ kind: FileSelector.Kind, _ source: String?, _ destination: String?, _ member: JSONMember,
    _ destinationMember: JSONMember?, _ index: Int, _ pattern: PathPattern? = nil
  ) {
    guard let source else { return }
    selectors.append(
      FileSelector(
        kind: kind, source: source, destination: destination, index: index, position: member.value.position,
        destinationPosition: (destinationMember ?? member).value.position, pattern: pattern))
  }

  private mutating func text(_ member: JSONMember) -> String? {
    guard let text = member.value.string else {
      problems.error(member.value.position, "'\(member.name)' must be a string, not \(member.value.kind)")
      return nil
    }
    guard !isPlaceholder(text) else {
      problems.error(
        member.value.position, "'\(text)' is a placeholder",
        remedy: "replace it with a path, or remove the selector")
      return nil
    }
    return text
  }

  // MARK: - Paths

  private enum Side { case source, destination }

  /// Returns the normalized path, empty for the root; `nil` if it is invalid.
  private mutating func path(_ text: String, _ member: JSONMember, _ side: Side, isFolder: Bool) -> String? {
    let position = member.value.position
    let root = side == .source ? "the source root" : "the root of the pack"
    func fail(_ message: String, remedy: String? = nil, suggestions: [String] = []) -> String? {
      problems.error(position, message, remedy: remedy, suggestions: suggestions)
      return nil
    }
    if text.isEmpty {
      return fail("the path of '\(member.name)' is empty", remedy: isFolder ? "write '.' for \(root)" : "name a file")
    }
    if isAbsolutePath(text) {
      return fail("'\(text.prefix(200))' is an absolute path", remedy: "write it relative to \(root)")
    }
    if isFolder, text == "." {
      if side == .source {
        problems.warn(
          position, "Apple's packager does not accept '.' as a directory",
          remedy: #"for Apple's packager, write { "filePattern": "**" }"#)
      }
      return ""
    }
    var parts = text.pathParts
    if isFolder, parts.last == "" { parts.removeLast() }
    let path = parts.joined(separator: "/")
    if parts.contains("..") {
      return fail(
        "'\(text.prefix(200))' has the part '..'",
        remedy: "write a path below \(root); 'sourceRoot' can be any folder")
    }
    if parts.contains("") || parts.contains(".") {
      let clean = parts.filter { !$0.isEmpty && $0 != "." }.joined(separator: "/")
      let fault = parts.contains(".") ? "has the part '.'" : "has an empty part"
      return fail("'\(text.prefix(200))' \(fault)", suggestions: clean.isEmpty ? [] : [clean])
    }
    if let fault = lengthFault(path, parts) { return fail(fault, remedy: "shorten it") }
    return path
  }

  /// Returns the fault of a path that the format cannot contain; `nil` for a valid path.
  private func lengthFault(_ path: String, _ parts: [String]) -> String? {
    if path.utf8.contains(0) { return "a path contains a NUL" }
    if path.utf8.count > 4095 { return "a path has more than 4095 bytes" }
    if parts.count > 2000 { return "a path has more than 2000 parts" }
    if parts.contains(where: { $0.utf8.count > 255 }) { return "a name in a path has more than 255 bytes" }
    return nil
  }

  /// Checks that a pattern can match a path below the source root; a pattern that cannot match any path is a mistake.
  private func requireRelative(_ pattern: String) throws {
    guard let odd = pattern.pathParts.first(where: { $0 == "." || $0 == ".." }) else { return }
    var error = PackStoreError(
      .invalidArgument, "the part '\(odd)' matches no path", about: .pattern("\(pattern.prefix(200))"))
    error.specificRemedy = "write it relative to the source root"
    throw error
  }
}
