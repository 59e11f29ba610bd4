import PackStore

/// One entry of a manifest's `fileSelectors`: which files of the source root are assets, and under which paths.
public struct FileSelector: Hashable, Sendable {
  public enum Kind: String, Codable, CaseIterable, Sendable {
    /// `file`, or `fileSource` with `fileDestination`.
    case file
    /// `directory`, or `directorySource` with `directoryDestination`: a folder and all below it.
    case directory
    /// `filePattern`: files and links whose paths match.
    case filePattern
    /// `fileExclusion`: what no other selector takes.
    case fileExclusion
  }

  public let kind: Kind

  /// A path below the source root, empty for the root itself; or a pattern.
  public let source: String

  /// The path in the pack, where it is another than ``source``; empty for the pack's root.
  public let destination: String?

  /// Counts the list's entries from 0 on.
  public let index: Int

  /// Where ``source`` stands in the manifest.
  let position: TextPosition

  /// Where ``destination`` stands, where there is one.
  let destinationPosition: TextPosition

  /// Of a pattern or an exclusion.
  let pattern: PathPattern?
}

extension FileSelector: CustomStringConvertible {
  /// `directory 'Textures'`, `file 'a' as 'b'`.
  public var description: String {
    "\(kind.rawValue) '\(source.isEmpty ? "." : source)'"
      + (destination.map { " as '\($0.isEmpty ? "." : $0)'" } ?? "")
  }
}
