import PackFormats
import PackStore

// Sites that refuse publications: mirrors, and former places of sites that moved.

/// The file that marks a folder as the mirror of a site at another place. It is UTF-8 text: the line `packstore mirror 1`, then the
/// line `of LOCATION`.
package enum MirrorMark {
  package static let fileName = "mirror"
  private static let title = "packstore mirror 1\nof "
  private static let byteCountLimit = 8 << 10

  /// - Parameter location: the mirrored place, without a user's name and password. Characters of control are left out.
  package static func text(of location: String) -> String {
    var shown = String.UnicodeScalarView()
    shown.append(contentsOf: location.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f })
    return title + String(shown) + "\n"
  }

  /// Whether a folder is a mirror.
  package static func exists(in folder: FilePath) -> Bool { pathExists(folder.appending(fileName)) }

  /// Returns the mirrored place; `nil` if the folder is not a mirror, or if its mark is damaged.
  package static func location(in folder: FilePath) -> String? {
    guard let bytes = try? InputFile(fileName, in: folder).contents(limit: byteCountLimit) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix(title), text.hasSuffix("\n") else { return nil }
    return String(text.dropFirst(title.count).dropLast())
  }
}

extension SiteFolder {
  /// - Throws: `refused` if the folder is a mirror.
  func requireNoMirror() throws {
    guard !isArriving, MirrorMark.exists(in: path) else { return }
    let place = MirrorMark.location(in: path).map { " of '\($0)'" } ?? ""
    var error = PackStoreError(.refused, "a mirror\(place), which only a copy changes", about: .site(path.string))
    error.specificRemedy = "publish to the mirrored site, then copy it again"
    throw error
  }

  /// - Throws: `refused` if one of the site's roots states that the site moved.
  func requirePresent(_ roots: [SiteRoot]) throws {
    guard let moved = roots.first(where: \.hasMove) else { return }
    let known = try? readRoot(of: moved.channel)?.move?.url
    let target = known.map { " to '\($0)'" } ?? ""
    var error = PackStoreError(.refused, "moved\(target): it accepts no changes", about: .site(path.string))
    error.specificRemedy = "publish to the new place"
    throw error
  }
}
