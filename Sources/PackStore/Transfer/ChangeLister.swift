import CPackStore

/// Makes change lists that lead to one version of a pack, from earlier ones. One thread at a time.
package struct ChangeLister: ~Copyable {
  private let pointer: OpaquePointer
  private let snapshot: Snapshot

  /// Reads a kept version.
  ///
  /// - Throws: `invalidArgument` when it has too many chunks for any list; `notFound`, `corrupt`, `purged`, `noSpace`, `ioError`,
  ///   `outOfMemory`.
  package init(to version: PackVersion, in snapshot: Snapshot) throws {
    let scope = try snapshot.scope(version.pack)
    var opened: OpaquePointer?
    try check { error in pks_change_lister_open(&opened, snapshot.pointer, scope, version.number, error) }
    guard let opened else { throw PackStoreError(.outOfMemory, "there is no lister") }
    pointer = opened
    self.snapshot = snapshot
  }

  deinit { pks_change_lister_close(pointer) }

  /// The change list from another kept version of the pack: what catalog and layout of the version have that `earlier` has
  /// not. At most 4 MiB.
  ///
  /// - Throws: `invalidArgument` when the versions have too little in common; `notFound`, `corrupt`, `purged`, `noSpace`,
  ///   `ioError`, `outOfMemory`. Others can be made all the same.
  package func changes(from earlier: PackVersion) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try check { error in
      withContext(&bytes) { context in
        pks_change_lister_list(
          pointer, earlier.number,
          { context, bytes, byteCount in
            context!.assumingMemoryBound(to: [UInt8].self).pointee += UnsafeRawBufferPointer(
              start: bytes, count: byteCount)
            return true
          }, context, error)
      }
    }
    return bytes
  }
}
