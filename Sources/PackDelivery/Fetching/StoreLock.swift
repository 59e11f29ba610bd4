import PackStore

extension FileLock {
  /// Locks a file of a store, which is created if necessary.
  ///
  /// - Throws: `readOnly` if the store's folder is not writable, like any other writer of the store; the errors of
  ///   ``init(_:waits:reason:)``.
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
