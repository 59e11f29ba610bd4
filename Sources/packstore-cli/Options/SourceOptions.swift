import ArgumentParser
import PackStore

/// Options for installing a folder or another program's archive: the files to skip, and the checks against mistakes.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .customLong("exclude"),
    help: .init(
      "Pattern of files to skip, in gitignore syntax; repeatable.",
      discussion: """
        '*.psd' and 'cache/' match names at any depth, '/build' and 'art/raw' match paths from the folder; '**' \
        crosses folders, a slash at the end matches folders only, and '!' includes files again. A '.packignore' file \
        in the folder contains such patterns, one per line.
        """, valueName: "pattern"))
  var patterns: [String] = []

  @Option(
    name: .customLong("exclude-from"),
    help: .init("File with such patterns; repeatable.", valueName: "file"), completion: .file())
  var files: [String] = []

  @Flag(
    help: "Include system files such as .DS_Store and Thumbs.db, unless another pattern matches them.")
  var noDefaultExcludes = false

  @Flag(help: "List skipped files with the matching patterns.")
  var printSkipped = false

  @Flag(help: "Accept a source without files.")
  var allowEmpty = false

  @Option(
    help: .init(
      "Largest accepted decrease in the number of files, if the current version has 10 or more (default: 50%).",
      valueName: "percent"), transform: parsePercent)
  var maxRemoved = 50

  /// Whether any of the options is set. They do not apply to archives created by `packstore export`.
  var isGiven: Bool {
    !patterns.isEmpty || !files.isEmpty || noDefaultExcludes || printSkipped || allowEmpty || maxRemoved != 50
  }

  /// Returns the rules for skipped files.
  ///
  /// - Throws: the error of a pattern file that cannot be read.
  func rules() throws -> IgnoreRules {
    var rules = IgnoreRules(patterns: patterns, lists: try files.map(readList))
    rules.usesStandardPatterns = !noDefaultExcludes
    return rules
  }

  private func readList(_ name: String) throws -> String {
    let bytes = try InputFile(FilePath(name)).contents(limit: 1 << 20)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(
        .invalidArgument, "'\(escaped(name))': the list of patterns is not UTF-8", remedy: "save it as UTF-8",
        path: name
      )
    }
    return text
  }

  /// Versions with fewer files are not checked for removed files.
  private static let leastFileCount = 10

  /// The kind of the source of a version.
  enum Source: String {
    case folder, archive
  }

  /// Checks for a mistaken source: a source without files, or with far fewer files than the current version.
  ///
  /// - Throws: `refused` for such a source.
  func check(
    _ result: Store.InstallResult, of name: String, _ kind: Source = .folder, after before: PackVersion?
  ) throws {
    let count = result.version.fileCount.addingClamped(result.version.linkCount)
    let whence = result.ignoredCount > 0 ? " except skipped files" : ""
    guard count > 0 || allowEmpty else {
      throw Failure(
        .refused, "'\(escaped(name))': the \(kind) contains no files\(whence)",
        remedy: "add --allow-empty if that is intended", path: name)
    }
    guard let before else { return }
    let countBefore = before.fileCount.addingClamped(before.linkCount)
    let leastCount = Double(countBefore) * Double(100 - maxRemoved) / 100
    guard countBefore >= Self.leastFileCount, Double(count) < leastCount else { return }
    throw Failure(
      .refused,
      "'\(escaped(name))': the \(kind) contains \(formatCount(count, "file"))\(whence), and \(before) has"
        + " \(formatCount(countBefore))",
      remedy: "add --max-removed 100% if that is intended", path: name)
  }

  /// Warns about skipped system files. Lists each pattern once.
  func warnOfStandard(_ result: Store.InstallResult) {
    let patterns = Set(result.ignored.filter(\.isStandard).map(\.pattern)).sorted()
    guard !patterns.isEmpty else { return }
    warn(
      .excludedFiles,
      "skipped system files (\(patterns.joined(separator: ", "))): '--no-default-excludes' includes them")
  }

  /// Returns one line per skipped file if `--print-skipped` is set.
  func lines(_ result: Store.InstallResult) -> [String] {
    guard printSkipped else { return [] }
    let more = max(result.ignoredCount - result.ignored.count, 0)
    return result.ignored.map { ignored in
      let isList = ignored.pattern == IgnoreRules.ignoreFileName
      let source =
        ignored.isStandard ? "a default" : ignored.file.map { escaped($0) } ?? (isList ? "a list itself" : "an option")
      return "skipped \(escaped(ignored.path))\(ignored.isFolder ? "/" : "")  by \(escaped(ignored.pattern)), \(source)"
    } + (more > 0 ? ["and \(formatCount(more)) more"] : [])
  }
}

/// A skipped file or folder, for JSON.
struct SkippedReport: Encodable {
  let path, kind, pattern: String
  /// The file that contains the pattern; `nil` for a pattern of an option or a default pattern.
  let file: String?
  let `default`: Bool

  init(_ ignored: IgnoredPath) {
    path = ignored.path
    kind = ignored.isFolder ? "folder" : "file"
    pattern = ignored.pattern
    file = ignored.file
    self.default = ignored.isStandard
  }
}

/// Parses `50%` or `50`.
@Sendable func parsePercent(_ text: String) throws -> Int {
  let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
  guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let percent = Int(digits), 0...100 ~= percent else {
    throw ValidationError("'\(escaped(text))' is not a share from 0% to 100%")
  }
  return percent
}
