import PackFormats
import PackStore

/// The deltas that a site has, as its roots name them.
struct KnownDeltas {
  struct Delta {
    let row: SiteRoot.Delta

    /// The versions to which it leads, as far as some channel offers them: versions of other attributes may have the same content,
    /// and it does not make these.
    fileprivate(set) var numbers: Set<UInt64>
  }

  private var deltas: [PackID: [Delta]] = [:]

  init(_ roots: [SiteRoot]) {
    for pack in roots.flatMap(\.packs) {
      for row in pack.deltas {
        add(row, of: pack.id, to: Set(pack.offers.filter { $0.catalog == row.to }.map(\.number)))
      }
    }
  }

  /// In the order in which they were made.
  func of(_ pack: PackID) -> [Delta] { deltas[pack] ?? [] }

  /// Notes one that was made.
  mutating func add(_ delta: DeltaFile.Info) { add(SiteRoot.Delta(delta), of: delta.pack, to: [delta.toVersion]) }

  private mutating func add(_ row: SiteRoot.Delta, of pack: PackID, to numbers: Set<UInt64>) {
    if let index = deltas[pack]?.firstIndex(where: { $0.row == row }) {
      deltas[pack]?[index].numbers.formUnion(numbers)
    } else {
      deltas[pack, default: []].append(Delta(row: row, numbers: numbers))
    }
  }

  /// Whether there is one from content to a version of that number.
  func lead(from catalog: CatalogID, to version: PackVersion) -> Bool {
    of(version.pack).contains {
      $0.row.from == catalog && $0.row.to == version.catalog && $0.numbers.contains(version.number)
    }
  }
}
