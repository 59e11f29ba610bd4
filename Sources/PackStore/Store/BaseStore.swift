import CPackStore

extension Store {
  /// Opens the store in the directory `path` over another one, its *base*, which is never written: one that came with the
  /// app, perhaps on a medium that cannot be written.
  ///
  /// The base's packs are the store's, too: of one pack of one origin the higher version wins. What the base has is not
  /// stored again; updates go to the store in `path`. The base may be another one at the next opening, or lie elsewhere:
  /// versions that relied on what only the old one had lack that data then, which reading says (`purged`), and a pull
  /// fetches. A pack that was removed, and not with its history kept, comes back with another base or a later state of it.
  ///
  ///     let packs = try Store(at: "/var/lib/game/packs", base: "/usr/share/game/packs")
  ///
  /// A repair knows no base: name it among the stores that ``repair(at:from:isDryRun:waitsForWriters:progress:)`` may take data from.
  ///
  /// Packs are taken over by one commit when the base is another one than before, or was changed; a store that is opened
  /// for reading only shows them as they were taken over last.
  ///
  /// - Throws: As ``init(at:options:)-(FilePath,_)``, also for the base; `invalidArgument` for a base that is the store itself or
  ///   lies over another one; those of a commit.
  /// - Complexity: O(1) over the same base as before; else linear in the assets of the packs that are taken over.
  public convenience init(at path: FilePath, base: FilePath, options: Options = .createIfMissing) throws {
    try self.init(openingAt: path, base: base, options: options)
    if !options.isReadOnly { try check { pks_store_adopt_base(nil, pointer, $0) } }
  }
}
