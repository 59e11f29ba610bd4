import PackStore

/// Parses a depot build script, or a depot in an app build script, and converts it to equivalent selectors.
struct DepotReader {
  private(set) var depotID: String?
  private(set) var sourceRoot: String? = "."
  private(set) var selectors: [KeyValuePairs<String, String>] = []
  var problems = ManifestProblems()

  /// Keys that only Steam uses.
  private static let ignoredKeys = [
    "installscript", "fileproperties", "desc", "description", "preview", "local", "setlive", "buildoutput", "verbose",
  ]
  private static let keys = ["DepotID", "ContentRoot", "FileMapping", "FileExclusion"]

  /// - Parameter depot: the number of the depot to read; `nil` for the only depot.
  mutating func read(_ text: [UInt8], depot: String? = nil) {
    let root: VDFEntry
    do throws(TextFault) {
      root = try VDFReader.read(text)
    } catch {
      return problems.error(error.position, error.finding, remedy: error.remedy)
    }
    guard case .block(let entries) = root.value,
      ["DepotBuild", "DepotBuildConfig", "AppBuild"].contains(where: root.isNamed)
    else {
      return problems.error(
        root.position, "'\(root.key.prefix(100))' is not a depot build script",
        remedy: "use a script that begins with \"DepotBuild\"")
    }
    guard !root.isNamed("AppBuild") else { return readApp(root, entries, depot) }
    readDepot(root, entries)
    if let depot, let depotID, depot != depotID {
      problems.error(root.position, "the script is for the depot \(depotID), not for \(depot.prefix(100))")
    }
  }

  private mutating func readDepot(_ root: VDFEntry, _ entries: [VDFEntry]) {
    for entry in entries { take(entry) }
    if !entries.contains(where: { $0.isNamed("FileMapping") }) {
      problems.error(
        root.position, "the script lacks 'FileMapping'", remedy: "map the files of the pack")
    }
  }

  // MARK: - Apps

  /// Reads one depot of an app.
  private mutating func readApp(_ root: VDFEntry, _ entries: [VDFEntry], _ depot: String?) {
    guard let chosen = choose(root, entries, depot) else { return }
    depotID = Self.isNumber(chosen.key) ? chosen.key : nil
    guard case .block(let depotEntries) = chosen.value else {
      let remedy =
        if case .text(let file) = chosen.value { "convert '\(file.prefix(200))'" } else { "convert that file" }
      return problems.error(
        chosen.valuePosition, "the script of the depot \(chosen.key.prefix(100)) is a separate file", remedy: remedy)
    }
    guard depotID != nil else { return reportNumber(chosen.key, chosen.position) }
    // The depot's own folder takes precedence.
    if !depotEntries.contains(where: { $0.isNamed("ContentRoot") }) {
      for entry in entries where entry.isNamed("ContentRoot") { takeContentRoot(entry) }
    }
    readDepot(chosen, depotEntries)
  }

  private mutating func choose(_ root: VDFEntry, _ entries: [VDFEntry], _ depot: String?) -> VDFEntry? {
    let depots = entries.filter { $0.isNamed("Depots") }.flatMap { entry -> [VDFEntry] in
      if case .block(let depots) = entry.value { depots } else { [] }
    }
    guard !depots.isEmpty else {
      problems.error(root.position, "the script does not contain 'Depots'", remedy: "convert the script of a depot")
      return nil
    }
    let names = depots.map { String($0.key.prefix(100)) }
    guard let depot else {
      if depots.count == 1 { return depots[0] }
      problems.error(
        root.position, "the script has the depots \(names.joined(separator: ", "))",
        remedy: "choose one: --depot \(names[0])")
      return nil
    }
    if let chosen = depots.first(where: { $0.isNamed(depot) }) { return chosen }
    problems.error(
      root.position, "the script lacks the depot \(depot.prefix(100)); it has \(names.joined(separator: ", "))",
      remedy: "choose one of these depots")
    return nil
  }

  // MARK: - Entries

  private mutating func take(_ entry: VDFEntry) {
    if entry.isNamed("FileMapping") {
      takeMapping(entry)
    } else if entry.isNamed("FileExclusion") {
      guard let text = text(entry), let pattern = exclusion(text, entry) else { return }
      selectors.append(["fileExclusion": pattern])
    } else if entry.isNamed("DepotID") {
      guard let text = text(entry) else { return }
      guard Self.isNumber(text) else { return reportNumber(text, entry.valuePosition) }
      depotID = text
    } else if entry.isNamed("ContentRoot") {
      takeContentRoot(entry)
    } else if Self.ignoredKeys.contains(entry.key.lowercased()) {
      problems.warn(entry.position, "'\(entry.key)' has no equivalent in a manifest and is skipped")
    } else {
      let nearest = nearestNames(to: entry.key, among: Self.keys)
      problems.error(
        entry.position, "unknown key '\(entry.key.prefix(100))' in a depot build script",
        remedy: nearest.isEmpty ? "remove it" : nil, suggestions: nearest)
    }
  }

  private static func isNumber(_ text: String) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
  }

  private mutating func reportNumber(_ text: String, _ position: TextPosition) {
    problems.error(position, "'\(text.prefix(100))' is not a depot number", remedy: "use only digits")
  }

  private mutating func text(_ entry: VDFEntry) -> String? {
    if case .text(let text) = entry.value { return text }
    problems.error(entry.valuePosition, "'\(entry.key)' must be a string, not a block")
    return nil
  }

  private mutating func takeContentRoot(_ entry: VDFEntry) {
    guard let text = text(entry) else { return }
    guard !isAbsolutePath(text) else {
      sourceRoot = nil
      return problems.warn(
        entry.valuePosition, "the absolute path of 'ContentRoot' is skipped",
        remedy: "run 'packstore evaluate' in that folder, or add a 'sourceRoot'")
    }
    let path = text.replacing("\\", with: "/").pathParts.filter { !$0.isEmpty && $0 != "." }.joined(separator: "/")
    sourceRoot = path.isEmpty ? "." : path
  }

  // MARK: - Mappings

  private mutating func takeMapping(_ entry: VDFEntry) {
    guard case .block(let entries) = entry.value else {
      return problems.error(entry.valuePosition, "'FileMapping' must be a block, not a string")
    }
    var values: [String: (text: String, entry: VDFEntry)] = [:]
    for inner in entries {
      guard ["localpath", "depotpath", "recursive"].contains(inner.key.lowercased()) else {
        let nearest = nearestNames(to: inner.key, among: ["LocalPath", "DepotPath", "Recursive"])
        problems.error(
          inner.position, "unknown key '\(inner.key.prefix(100))' in a 'FileMapping'",
          remedy: nearest.isEmpty ? "remove it" : nil, suggestions: nearest)
        continue
      }
      guard let text = text(inner) else { continue }
      guard values.updateValue((text, inner), forKey: inner.key.lowercased()) == nil else {
        problems.error(inner.position, "'\(inner.key)' occurs twice", remedy: "keep one of them")
        continue
      }
    }
    guard let local = values["localpath"] else {
      return problems.error(entry.position, "a 'FileMapping' lacks 'LocalPath'", remedy: "add one")
    }
    let recursive = values["recursive"].map { ["1": true, "0": false][$0.text] } ?? false
    guard let recursive else {
      let position = values["recursive"]?.entry.valuePosition ?? entry.position
      return problems.error(position, "'Recursive' must be 0 or 1")
    }
    guard let source = path(local.text, local.entry), let destination = destination(values["depotpath"]) else { return }
    addSelector(source, destination, isRecursive: recursive, entry)
  }

  /// Returns a relative path with slashes; keeps a trailing slash.
  private mutating func path(_ text: String, _ entry: VDFEntry) -> [String]? {
    guard !isAbsolutePath(text) else {
      problems.error(
        entry.valuePosition, "'\(text.prefix(200))' is an absolute path", remedy: "write it relative to 'ContentRoot'")
      return nil
    }
    let parts = text.replacing("\\", with: "/").pathParts.filter { $0 != "." }
    guard !parts.contains("..") else {
      problems.error(
        entry.valuePosition, "'\(text.prefix(200))' has the part '..'", remedy: "write it relative to 'ContentRoot'")
      return nil
    }
    let isFolder = parts.last == "" && parts.count > 1
    return parts.filter { !$0.isEmpty } + (isFolder ? [""] : [])
  }

  /// Returns the parts of the destination's path; empty if no destination is given, or if it is the root.
  private mutating func destination(_ value: (text: String, entry: VDFEntry)?) -> [String]? {
    guard let value else { return [] }
    let parts = path(value.text, value.entry)
    return parts == [""] ? [] : parts
  }

  private mutating func addSelector(
    _ source: [String], _ destination: [String], isRecursive: Bool, _ entry: VDFEntry
  ) {
    let last = source.last ?? "", folder = source.dropLast().joined(separator: "/")
    let target = destination.filter { !$0.isEmpty }.joined(separator: "/")
    guard !folder.utf8.contains(where: isWildcard) else {
      return problems.error(entry.position, "a wildcard in a folder's name cannot be mapped", remedy: "map each folder")
    }
    let isAll = last.isEmpty || last == "*" || last == "*.*"
    if isAll, isRecursive || last.isEmpty {
      if !target.isEmpty {
        selectors.append(["directorySource": folder.isEmpty ? "." : folder, "directoryDestination": target])
      } else {
        selectors.append(folder.isEmpty ? ["filePattern": "**"] : ["directory": folder])
      }
    } else if last.utf8.contains(where: isWildcard) {
      guard target.isEmpty else {
        return problems.error(
          entry.position, "a manifest cannot move files that match a wildcard",
          remedy: "map the whole folder, or each file")
      }
      let name = isAll ? "*" : last
      let pattern = isRecursive && folder.isEmpty ? name : "\(folder)/" + (isRecursive ? "**/\(name)" : name)
      selectors.append(["filePattern": escapedForPattern(pattern)])
    } else {
      addFile(source.joined(separator: "/"), destination, target, entry)
    }
  }

  private mutating func addFile(_ source: String, _ destination: [String], _ target: String, _ entry: VDFEntry) {
    guard !target.isEmpty else { return selectors.append(["file": source]) }
    guard destination.last != "" else {
      return selectors.append(["fileSource": source, "fileDestination": "\(target)/\(source.pathParts.last ?? "")"])
    }
    problems.warn(
      entry.position, "'\(target)' is used as the file's path in the pack",
      remedy: "if it is a folder, end 'DepotPath' with a slash")
    selectors.append(["fileSource": source, "fileDestination": target])
  }

  // MARK: - Patterns

  private mutating func exclusion(_ text: String, _ entry: VDFEntry) -> String? {
    guard var parts = path(text, entry) else { return nil }
    guard !parts.isEmpty else {
      problems.error(entry.valuePosition, "'FileExclusion' is empty", remedy: "remove it")
      return nil
    }
    // Everything in a folder, at any depth.
    if parts.count > 1, parts.last == "" || parts.last == "*" { parts[parts.count - 1] = "**" }
    return escapedForPattern(parts.joined(separator: "/"))
  }

  private func isWildcard(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") }

  /// Escapes brackets, because only `*` and `?` are wildcards in these scripts.
  private func escapedForPattern(_ text: String) -> String { text.replacing("[", with: "\\[") }
}
