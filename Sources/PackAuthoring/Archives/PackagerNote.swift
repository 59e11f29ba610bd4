import PackFormats
import PackStore

/// An archive's record of its packaging, in lines of text: `Docs/FORMAT.md`, section 22. It is not signed, and clients do not read
/// it: it helps publishers to compare archives.
struct PackagerNote: Hashable {
  var zstdVersion: String
  var level: Int32
  var layout: Store.InstallOptions.Layout

  static let fileName = ArchiveIndex.packagerName

  /// The maximum size of a note in bytes.
  static let byteCountLimit = 4096

  private static let firstLine = "packstore packager 1"

  func encode() -> [UInt8] {
    Array("\(Self.firstLine)\nzstd \(zstdVersion)\nlevel \(level)\nlayout \(layout.rawValue)\n".utf8)
  }

  /// Returns the version of libzstd in a note; `nil` if it contains none.
  static func zstdVersion(in bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == Substring(firstLine) else { return nil }
    let word = "zstd "
    guard let line = lines.first(where: { $0.hasPrefix(word) }) else { return nil }
    let version = line.dropFirst(word.count)
    // The version is shown to users, so only digits and dots are accepted.
    let isPlain = version.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    return isPlain && (1...32).contains(version.utf8.count) ? String(version) : nil
  }
}
