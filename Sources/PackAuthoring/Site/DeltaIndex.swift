import PackFormats
import PackStore

/// The deltas of a site, as listed in its roots.
struct DeltaIndex {
  struct Delta {
    let row: SiteRoot.Delta

    /// The numbers of the offered versions that the delta leads to. Versions with other attributes may have the same content, but
    /// the delta does not produce them.
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

  /// Returns the deltas of a pack, in the order in which they were built.
  func of(_ pack: PackID) -> [Delta] { deltas[pack] ?? [] }

  /// Records a new delta.
  mutating func add(_ delta: DeltaFile.Info) { add(SiteRoot.Delta(delta), of: delta.pack, to: [delta.toVersion]) }

  private mutating func add(_ row: SiteRoot.Delta, of pack: PackID, to numbers: Set<UInt64>) {
    if let index = deltas[pack]?.firstIndex(where: { $0.row == row }) {
      deltas[pack]?[index].numbers.formUnion(numbers)
    } else {
      deltas[pack, default: []].append(Delta(row: row, numbers: numbers))
    }
  }

  /// Whether a delta from this content to the version with its number exists.
  func lead(from catalog: CatalogID, to version: PackVersion) -> Bool {
    of(version.pack).contains {
      $0.row.from == catalog && $0.row.to == version.catalog && $0.numbers.contains(version.number)
    }
  }
}
