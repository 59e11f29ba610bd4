import PackStore

/// An entry of a manifest's `fileSelectors`: files of the source root to include, and their paths in the pack.
public struct FileSelector: Hashable, Sendable {
  public enum Kind: String, Codable, CaseIterable, Sendable {
    /// `file`, or `fileSource` with `fileDestination`.
    case file
    /// `directory`, or `directorySource` with `directoryDestination`: a folder and everything below it.
    case directory
    /// `filePattern`: files and links whose paths match.
    case filePattern
    /// `fileExclusion`: files that the other selectors skip.
    case fileExclusion
  }

  public let kind: Kind

  /// A path below the source root, empty for the root itself; or a pattern.
  public let source: String

  /// The path in the pack, if it differs from ``source``; empty for the pack's root.
  public let destination: String?

  /// The index in the list, from 0.
  public let index: Int

  /// The position of ``source`` in the manifest.
  let position: TextPosition

  /// The position of ``destination``, if any.
  let destinationPosition: TextPosition

  /// The pattern of a pattern or an exclusion.
  let pattern: PathPattern?
}

extension FileSelector: CustomStringConvertible {
  /// A text such as `directory 'Textures'` or `file 'a' as 'b'`.
  public var description: String {
    "\(kind.rawValue) '\(source.isEmpty ? "." : source)'"
      + (destination.map { " as '\($0.isEmpty ? "." : $0)'" } ?? "")
  }
}
