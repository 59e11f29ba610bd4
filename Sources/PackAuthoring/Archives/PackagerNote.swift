import PackFormats
import PackStore

/// What an archive says of how it was packed, in lines of text: `Docs/FORMAT.md`, section 22. Nothing vouches for it, and
/// clients do not read it: it tells a publisher why two archives differ.
struct PackagerNote: Hashable {
  var zstdVersion: String
  var level: Int32
  var layout: Store.InstallOptions.Layout

  static let fileName = ArchiveIndex.packagerName

  /// More than any has.
  static let byteCountLimit = 4096

  private static let firstLine = "packstore packager 1"

  func encode() -> [UInt8] {
    Array("\(Self.firstLine)\nzstd \(zstdVersion)\nlevel \(level)\nlayout \(layout.rawValue)\n".utf8)
  }

  /// The version of libzstd that a note names; nil where it names none.
  static func zstdVersion(in bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == Substring(firstLine) else { return nil }
    let word = "zstd "
    guard let line = lines.first(where: { $0.hasPrefix(word) }) else { return nil }
    let version = line.dropFirst(word.count)
    // It is shown to people.
    let isPlain = version.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    return isPlain && (1...32).contains(version.utf8.count) ? String(version) : nil
  }
}
