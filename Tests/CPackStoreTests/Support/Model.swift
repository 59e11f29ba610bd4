/// What a store should show: packs in memory, and the merged namespace worked out from first principles.
///
/// At each path the packs that have something there or below it make a claim: a file (or link), or a folder. The claim of the best
/// rank decides what the path is. A file hides everything below it and all other claims; a folder hides files at its path and
/// merges with other folders.
struct Model {
  struct Pack: Equatable {
    var name: String
    var priority: Int32
    var order: Int
    var version: UInt64
    var content: Folder
  }

  private(set) var packs: [Pack] = []  // in the order in which they win
  private var nextOrder = 0

  // MARK: Changes

  mutating func add(_ name: String, _ content: Folder, priority: Int32?) {
    if let index = packs.firstIndex(where: { $0.name == name }) {
      if packs[index].content != content {
        packs[index].content = content
        packs[index].version += 1
      }
      packs[index].priority = priority ?? packs[index].priority
    } else {
      packs.append(Pack(name: name, priority: priority ?? 0, order: nextOrder, version: 1, content: content))
      nextOrder += 1
    }
    sort()
  }

  mutating func remove(_ name: String) { packs.removeAll { $0.name == name } }

  mutating func prioritise(_ name: String, _ priority: Int32) {
    packs[packs.firstIndex { $0.name == name }!].priority = priority
    sort()
  }

  private mutating func sort() {
    packs.sort { $0.priority != $1.priority ? $0.priority > $1.priority : $0.order < $1.order }
  }

  var state: StoreState {
    StoreState(
      uniqueKeysWithValues: packs.map {
        ($0.name, PackState(priority: $0.priority, version: $0.version, content: $0.content))
      })
  }
}

/// The merged namespace of a model, or that of one of its packs.
struct Namespace {
  private struct Place {
    var records: [(rank: UInt32, node: Node)] = []  // by rank
    var folderRank: UInt32?  // the best pack that needs a folder here
    var children: Set<String> = []

    var fileRank: UInt32? { records.first { !$0.node.isFolder }?.rank }
    var file: (rank: UInt32, node: Node)? {
      guard let file = records.first(where: { !$0.node.isFolder }) else { return nil }
      return folderRank.map { $0 < file.rank } == true ? nil : file
    }
    /// A folder that has an entry of its own; the entry of a worse pack does not count beside a better one's hidden file.
    var explicitFolder: UInt32? { records.first.flatMap { $0.node.isFolder ? $0.rank : nil } }
  }

  static let any = UInt32.max
  private var places: [String: Place] = ["": Place(folderRank: any)]
  private let isLimited: Bool

  init(_ packs: [Model.Pack], only: UInt32? = nil) {
    isLimited = only != nil
    for (rank, pack) in packs.enumerated() where only == nil || only == UInt32(rank) {
      for (path, node) in pack.content { claim(path, node, UInt32(rank)) }
    }
  }

  private mutating func claim(_ path: String, _ node: Node, _ rank: UInt32) {
    places[path, default: Place()].records.append((rank, node))
    if node.isFolder { needFolder(path, rank) }
    var below = path
    while below != "" {
      let above = Self.parent(below)
      places[above, default: Place()].children.insert(below)
      needFolder(above, rank)
      below = above
    }
  }

  private mutating func needFolder(_ path: String, _ rank: UInt32) {
    places[path]!.folderRank = min(places[path]!.folderRank ?? rank, rank)
  }

  static func parent(_ path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

  /// Every path that some pack has or implies.
  var paths: [String] { places.keys.filter { $0 != "" }.sorted() }

  /// The file above `path` that hides it, if any.
  private func hider(of path: String) -> (path: String, rank: UInt32)? {
    var found: (String, UInt32)?
    var above = path
    while above != "" {
      above = Self.parent(above)
      if above != "", let file = places[above]?.file { found = (above, file.rank) }
    }
    return found
  }

  func find(_ path: String) -> Snapshot.Found? {
    guard let place = places[path], hider(of: path) == nil else { return nil }
    if let file = place.file { return .init(pack: file.rank, node: file.node) }
    return .init(pack: place.explicitFolder ?? Self.any, node: .folder)
  }

  func descendants(_ folder: String) -> [Snapshot.Entry] {
    paths.filter { folder == "" || $0.hasPrefix(folder + "/") }.compactMap { path in
      guard let found = find(path), found.pack != Self.any else { return nil }
      return .init(path: path, pack: found.pack, node: found.node)
    }
  }

  func children(_ folder: String) -> [Snapshot.Entry] {
    let entries = places[folder]!.children.compactMap { path in
      find(path).map { Snapshot.Entry(path: path, pack: $0.pack, node: $0.node) }
    }
    // An implied folder stands where what it holds stands.
    func key(_ entry: Snapshot.Entry) -> String { entry.pack == Self.any ? entry.path + "/" : entry.path }
    return entries.sorted { key($0) < key($1) }
  }

  /// Losers with the winners that may be named for them.
  func conflicts(_ folder: String) -> [(path: String, pack: UInt32, winners: Set<UInt32>, winnerPath: String)] {
    var all: [(path: String, pack: UInt32, winners: Set<UInt32>, winnerPath: String)] = []
    for path in paths where folder == "" || path.hasPrefix(folder + "/") {
      let place = places[path]!
      for record in place.records.sorted(by: { $0.rank < $1.rank }) {
        if let hider = hider(of: path) {
          all.append((path, record.rank, [hider.rank], hider.path))
        } else if let file = place.file {
          if record.rank != file.rank { all.append((path, record.rank, [file.rank], path)) }
        } else if !record.node.isFolder {
          all.append((path, record.rank, foldersBetter(than: record.rank, at: path), path))
        }
      }
    }
    return all
  }

  private func foldersBetter(than rank: UInt32, at path: String) -> Set<UInt32> {
    var ranks: Set<UInt32> = []
    for (below, place) in places where below == path || below.hasPrefix(path + "/") {
      for record in place.records where record.rank < rank && (below != path || record.node.isFolder) {
        ranks.insert(record.rank)
      }
    }
    return ranks
  }
}
