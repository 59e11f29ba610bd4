import ArgumentParser
import PackStore

/// Options that select the listed differences. Totals include all differences.
struct DiffSelection: ParsableArguments {
  @Flag(help: "Print only the number of differences.")
  var summary = false

  @Option(
    help: .init("Pattern of the paths to list, as for 'add --map': 'levels/**', '*.png'.", valueName: "pattern"),
    transform: parsePathPattern)
  var path: PathPattern?

  @Option(
    help: .init(
      "Minimum size of the files to list, in either version, such as 500k or 2M; lists only files.", valueName: "bytes"),
    transform: parseByteCount)
  var minSize: Int?

  func shows(_ difference: Snapshot.Difference) -> Bool {
    guard !summary else { return false }
    if let path, !path.matches(difference.path), !(difference.oldPath.map(path.matches) ?? false) { return false }
    guard let minSize else { return true }
    return difference.kind == .file && max(difference.oldByteCount, difference.newByteCount) >= minSize
  }
}

@Sendable private func parsePathPattern(_ text: String) throws -> PathPattern {
  do {
    return try PathPattern(text)
  } catch let error as PackStoreError {
    throw ValidationError("'\(escaped(text))' is not a pattern: \(error.reason)")
  }
}

/// Formats differences as lines of text. A renamed folder is one line.
///
/// Consecutive moved files become one line if the same leading folder changed in their paths.
struct DiffLines {
  /// The differing leading folders of a moved file, without slashes at the end; the complete paths if its name changed. Compared by
  /// bytes, because a name may change only its Unicode normal form.
  private struct Move: Equatable {
    let old, new: [UInt8]

    init?(_ difference: Snapshot.Difference) {
      guard difference.change == .moved, let oldPath = difference.oldPath else { return nil }
      var old = Array(oldPath.utf8)[...], new = Array(difference.path.utf8)[...]
      while let name = Self.lastPart(of: new), name == Self.lastPart(of: old) {
        old = Self.parent(of: old)
        new = Self.parent(of: new)
      }
      self.old = Array(old)
      self.new = Array(new)
    }

    private static let slash = UInt8(ascii: "/")

    private static func lastPart(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
      path.isEmpty ? nil : path[(path.lastIndex(of: slash).map { $0 + 1 } ?? path.startIndex)...]
    }

    private static func parent(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      path[..<(path.lastIndex(of: slash) ?? path.startIndex)]
    }

    private static func folder(_ path: [UInt8]) -> String { path.isEmpty ? "./" : escaped(path) + "/" }

    func line(count: Int) -> String { "moved    \(Self.folder(new)) (\(count) files, was \(Self.folder(old)))" }
  }

  private var move: Move?
  private var count = 0

  /// The line for the first file of the current move.
  private var single = ""

  /// Adds a difference. Returns the lines that are now complete.
  mutating func add(_ difference: Snapshot.Difference) -> [String] {
    let next = Move(difference)
    if let next, next == move {
      count += 1
      return []
    }
    var lines = end()
    if next != nil {
      (move, count, single) = (next, 1, text(difference))
    } else {
      lines.append(text(difference))
    }
    return lines
  }

  /// Returns the remaining lines. Called at the end.
  mutating func end() -> [String] {
    defer { move = nil }
    guard let move else { return [] }
    return [count == 1 ? single : move.line(count: count)]
  }

  private func text(_ difference: Snapshot.Difference) -> String {
    let path = escaped(difference.path) + (difference.kind == .folder ? "/" : "")
    let isFile = difference.kind == .file
    switch difference.change {
    case .added:
      return "added    \(path)" + (isFile ? " (\(formatBytes(difference.newByteCount))\(new(difference)))" : "")
    case .removed: return "removed  \(path)" + (isFile ? " (\(formatBytes(difference.oldByteCount)))" : "")
    case .changed:
      let sizes = "\(formatBytes(difference.newByteCount)), was \(formatBytes(difference.oldByteCount))"
      return "changed  \(path)" + (isFile ? " (\(sizes)\(new(difference)))" : "")
    case .moved: return "moved    \(path) (was \(escaped(difference.oldPath ?? "")))"
    }
  }
  /// Returns the amount of new data in a file; empty if all of it is new.
  private func new(_ difference: Snapshot.Difference) -> String {
    difference.newChunkByteCount == difference.newByteCount
      ? "" : ", \(formatBytes(difference.newChunkByteCount)) new"
  }
}
