import CPackStore

extension Store {
  /// Opens the store in the directory `path` on top of another store, its *base*, which is never written. The base may be part of
  /// the app or on read-only media.
  ///
  ///     let packs = try Store(at: "/var/lib/game/packs", base: "/usr/share/game/packs")
  ///
  /// The store also shows the base's packs. If both stores have a pack of the same origin, the higher version wins. Data of the
  /// base is not stored again; updates are stored in `path`.
  ///
  /// The next opening may use another base, or another path of it. Versions that depended on data of the old base only then lack
  /// this data: reading it fails with `purged`, and a pull restores it. A pack that was removed without keeping its history returns
  /// with another base, or with a later state of this base.
  ///
  /// A repair does not use the base: pass it as a donor to ``repair(at:from:isDryRun:waitsForWriters:progress:)``.
  ///
  /// If the base changed since the last opening, one commit adopts its packs. A store opened for reading only shows the packs as
  /// they were adopted last.
  ///
  /// - Throws: As ``init(at:options:)-(FilePath,_)``, also for the base; `invalidArgument` if the base is the store itself or has a
  ///   base of its own; the errors of a commit.
  /// - Complexity: O(1) for an unchanged base; otherwise linear in the assets of the adopted packs.
  public convenience init(at path: FilePath, base: FilePath, options: Options = .createIfMissing) throws {
    try self.init(openingAt: path, base: base, options: options)
    if !options.isReadOnly { try check { pks_store_adopt_base(nil, pointer, $0) } }
  }
}
