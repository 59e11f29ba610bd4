public import PackStore

/// The result of applying a manifest to the files on this disk: the pack's paths, their sources, and all problems.
public struct ManifestEvaluation: Sendable {
  /// The manifest; `nil` if it has errors.
  public let manifest: Manifest?

  /// The folder that the selectors' paths are relative to.
  public let sourceRoot: FilePath

  /// The valid selectors, in their order.
  public let selectors: [FileSelector]

  /// The entries of the pack, in bytewise order of paths. For a manifest with errors, the entries that could be found.
  public let entries: [Entry]

  /// The problems, in the order of the manifest's text.
  public let problems: [ManifestProblem]

  public var hasErrors: Bool { problems.contains { $0.severity == .error } }

  /// The sum of the files' sizes, in bytes.
  public var byteCount: UInt64 { entries.map(\.byteCount).clampedSum() }

  /// An entry of the pack.
  public struct Entry: Hashable, Sendable {
    public enum Kind: String, Codable, Sendable {
      case file
      case link
      /// An empty folder.
      case folder
    }

    /// The path in the pack.
    public let path: String

    /// The path below the source root.
    public let source: String
    public let kind: Kind

    /// The size of a file, in bytes.
    public let byteCount: UInt64

    /// Whether a file is executable.
    public let isExecutable: Bool

    /// The selector of the entry, the first one if there are several: ``FileSelector/index``.
    public let selector: Int
  }
}

extension Manifest {
  /// Reads a manifest and finds the selected files. Changes nothing, and reads no asset.
  ///
  /// - Parameters:
  ///   - path: the manifest's file.
  ///   - currentFolder: the source root of a manifest without one.
  /// - Throws: `notFound`, `wrongKind` or `ioError` if the manifest cannot be read, `refused` if it is longer than
  ///   ``byteCountLimit``; faults in the manifest are part of the result.
  public static func evaluate(contentsOf path: FilePath, currentFolder: FilePath = ".") throws -> ManifestEvaluation {
    let file = try InputFile(path)
    guard try file.byteCount <= UInt64(byteCountLimit) else {
      throw PackStoreError(.refused, "has more than 16 MiB", file: path.string)
    }
    let reading = ManifestReader.read(try file.contents(limit: byteCountLimit))
    let root = reading.sourceRoot.map { path.removingLastComponent().appending($0) } ?? currentFolder
    return ManifestResolver.evaluate(reading, sourceRoot: root.lexicallyNormalized())
  }
}
