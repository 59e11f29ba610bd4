import PackStore

extension FileLock {
  /// Locks a file of a store, which is made if need be.
  ///
  /// - Throws: `readOnly` when the store's folder may not be written to, as any other writer of the store would have
  ///   it; what ``init(_:waits:reason:)`` throws.
  convenience init(lockOfStore store: FilePath, _ name: String, waits: Bool, reason: String) throws {
    do {
      try self.init(FilePlace(name, in: store), waits: waits, reason: reason, about: .store(store.string))
    } catch let error as PackStoreError where error.isRefusal {
      throw PackStoreError(
        .readOnly, "its directory cannot be written", about: .store(store.string), detail: .notWritable,
        systemError: error.systemError)
    }
  }
}

extension PackStoreError {
  fileprivate var isRefusal: Bool {
    [.permissionDenied, .notPermitted, .readOnlyFileSystem].contains(systemError)
  }
}
