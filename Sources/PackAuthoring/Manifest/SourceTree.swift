import PackStore

/// The folders below a source root, each listed once, when it is first asked for. No link is followed.
struct SourceTree {
  let root: FilePath
  private var listings: [String: Listing] = [:]

  /// What a folder holds.
  struct Listing {
    /// In bytewise order of names.
    var items: [(name: String, kind: FolderItem.Kind)] = []
    /// Names that cannot be stored, made readable.
    var badNames: [String] = []

    func kind(of name: String) -> FolderItem.Kind? {
      items.first { $0.name.utf8.elementsEqual(name.utf8) }?.kind
    }
  }

  init(root: FilePath) { self.root = root }

  /// - Parameter folder: a path below the root, empty for the root itself.
  mutating func listing(of folder: String) throws -> Listing {
    if let listing = listings[folder] { return listing }
    var listing = Listing()
    for item in try itemsInFolder(folder, of: root) {
      if let name = String(validating: item.name, as: UTF8.self) {
        listing.items.append((name, item.kind))
      } else {
        listing.badNames.append(String(showing: item.name))
      }
    }
    listings[folder] = listing
    return listing
  }

  /// What a path leads to, or how far it leads.
  enum Finding {
    case found(FolderItem.Kind)
    /// There is nothing at the path `path`; `near` is there in its place.
    case missing(path: String, near: [String])
    /// `path` is on the way, and no folder.
    case notAFolder(path: String, isLink: Bool)
  }

  /// - Parameter path: not empty.
  mutating func find(_ path: String) throws -> Finding {
    var folder = ""
    let parts = path.pathParts
    for (index, part) in parts.enumerated() {
      let listing = try listing(of: folder)
      let here = folder.isEmpty ? part : "\(folder)/\(part)"
      guard let kind = listing.kind(of: part) else {
        let near = nearestNames(to: part, among: listing.items.map(\.name))
        let rest = parts[(index + 1)...].map { "/\($0)" }.joined()
        return .missing(path: here, near: near.map { (folder.isEmpty ? $0 : "\(folder)/\($0)") + rest })
      }
      if index == parts.count - 1 { return .found(kind) }
      guard kind == .folder else {
        if case .link = kind { return .notAFolder(path: here, isLink: true) }
        return .notAFolder(path: here, isLink: false)
      }
      folder = here
    }
    return .found(.folder)
  }
}
