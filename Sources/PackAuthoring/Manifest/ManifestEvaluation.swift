public import PackStore

/// What a manifest comes to on this disk: the pack's paths, where each comes from, and all that is wrong.
public struct ManifestEvaluation: Sendable {
  /// Nil when the manifest itself has errors.
  public let manifest: Manifest?

  /// The folder that the selectors' paths are relative to.
  public let sourceRoot: FilePath

  /// The selectors that could be read, in their order.
  public let selectors: [FileSelector]

  /// What will be in the pack, in bytewise order of paths. Of a manifest with errors, what could be found.
  public let entries: [Entry]

  /// In the order of the manifest's text.
  public let problems: [ManifestProblem]

  public var hasErrors: Bool { problems.contains { $0.severity == .error } }

  /// The sum of the files' sizes, in bytes.
  public var byteCount: UInt64 { entries.map(\.byteCount).clampedSum() }

  /// Something that will be in the pack.
  public struct Entry: Hashable, Sendable {
    public enum Kind: String, Codable, Sendable {
      case file
      case link
      /// An empty folder.
      case folder
    }

    /// In the pack.
    public let path: String

    /// Below the source root.
    public let source: String
    public let kind: Kind

    /// Of a file, in bytes.
    public let byteCount: UInt64

    /// Whether a file may be run as a program.
    public let isExecutable: Bool

    /// The selector that took it, the first one if there are several: ``FileSelector/index``.
    public let selector: Int
  }
}

extension Manifest {
  /// Reads a manifest and finds what it selects. Nothing is changed, and no asset is read.
  ///
  /// - Parameters:
  ///   - path: the manifest's file.
  ///   - currentFolder: the source root of a manifest without one.
  /// - Throws: `notFound`, `wrongKind` or `ioError` when the manifest cannot be read, `refused` when it is longer than
  ///   ``byteCountLimit``; what is wrong with it is in the result.
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
