import PackStore

/// The folders below a source root. Each is listed once, when it is first needed. Links are not followed.
struct SourceTree {
  let root: FilePath
  /// Listings by the exact path: two names may differ only by Unicode normal form.
  private var listings: [ExactText: Listing] = [:]

  /// The contents of a folder.
  struct Listing {
    /// In bytewise order of names.
    var items: [(name: String, kind: FolderItem.Kind)] = []
    /// Names that cannot be stored, in readable form.
    var badNames: [String] = []

    func kind(of name: String) -> FolderItem.Kind? {
      items.first { $0.name.utf8.elementsEqual(name.utf8) }?.kind
    }
  }

  init(root: FilePath) { self.root = root }

  /// - Parameter folder: a path below the root, empty for the root itself.
  mutating func listing(of folder: String) throws -> Listing {
    if let listing = listings[ExactText(folder)] { return listing }
    var listing = Listing()
    for item in try itemsInFolder(folder, of: root) {
      if let name = String(validating: item.name, as: UTF8.self) {
        listing.items.append((name, item.kind))
      } else {
        listing.badNames.append(String(showing: item.name))
      }
    }
    listings[ExactText(folder)] = listing
    return listing
  }

  /// The result of looking up a path.
  enum Finding {
    case found(FolderItem.Kind)
    /// Nothing exists at `path`; `near` lists similar names.
    case missing(path: String, near: [String])
    /// `path` is a parent of the searched path, but not a folder.
    case notAFolder(path: String, isLink: Bool)
  }

  /// - Parameter path: must not be empty.
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
