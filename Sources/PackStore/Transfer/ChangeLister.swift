import CPackStore

/// Creates change lists from earlier versions of a pack to one version. Use it on one thread at a time.
package struct ChangeLister: ~Copyable {
  private let pointer: OpaquePointer
  private let snapshot: Snapshot

  /// Reads a kept version.
  ///
  /// - Throws: `invalidArgument` if the version has too many chunks for any list; `notFound`, `corrupt`, `purged`, `noSpace`,
  ///   `ioError`, `outOfMemory`.
  package init(to version: PackVersion, in snapshot: Snapshot) throws {
    let scope = try snapshot.scope(version.pack)
    var opened: OpaquePointer?
    try check { error in pks_change_lister_open(&opened, snapshot.pointer, scope, version.number, error) }
    guard let opened else { throw PackStoreError(.outOfMemory, "cannot create a change lister") }
    pointer = opened
    self.snapshot = snapshot
  }

  deinit { pks_change_lister_close(pointer) }

  /// Returns the change list from another kept version of the pack: the parts of the version's catalog and layout that `earlier`
  /// lacks. A list has at most 4 MiB.
  ///
  /// - Throws: `invalidArgument` if the versions have too little in common; `notFound`, `corrupt`, `purged`, `noSpace`, `ioError`,
  ///   `outOfMemory`. After an error the lister can still create other lists.
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
