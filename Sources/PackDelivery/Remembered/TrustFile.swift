import PackStore

/// Stores a store's ``TrustBook``: the file `trust` in its folder.
package struct TrustFile: Sendable {
  private static let sizeLimit = 16 << 20
  private static let name = "trust"
  private static let lockName = "trust.lock"
  private let store: FilePath

  package init(inStore store: FilePath) { self.store = store }

  /// Reads the book.
  ///
  /// - Throws: `corrupt` if the file has other contents; the store's error if it cannot be read, or is not a file.
  package func read() throws -> TrustBook {
    let bytes: [UInt8]
    do {
      bytes = try InputFile(Self.name, in: store).contents(limit: Self.sizeLimit)
    } catch let error as PackStoreError where error.code == .notFound {
      return TrustBook()
    }
    let text = String(validating: bytes, as: UTF8.self)
    if let text, TrustBook.isOtherDraft(text) {
      throw refusal(.otherDraft, "written in another draft of the format")
    }
    guard let text, let book = TrustBook(text: text) else {
      throw refusal(.corrupt, "damaged")
    }
    return book
  }

  /// Copies the book to another store, if it exists.
  ///
  /// - Throws: the errors of reading it; `ioError`, `noSpace`.
  package func copy(toStore other: FilePath) throws {
    let book = try read()
    guard book != TrustBook() else { return }
    try replaceFile(Self.name, in: other, by: Array(book.text.utf8), draft: "tmp/\(Self.name)")
  }

  private func refusal(_ code: DeliveryError.Code, _ reason: String) -> DeliveryError {
    var error = DeliveryError(code, reason, at: store.appending(Self.name).string)
    error.specificRemedy = "remove the file; at each place the next contact then counts as the first"
    return error
  }

  /// Changes the book, while no other process does. After a crash, the old or the new book remains.
  ///
  /// - Parameter waits: whether to wait for another process, rather than fail with `busy`.
  package func update<Result>(waits: Bool = true, _ body: (inout TrustBook) throws -> Result) throws -> Result {
    try withLock(waits: waits) { old in
      var new = old
      let result = try body(&new)
      guard new != old else { return result }
      try replaceFile(Self.name, in: store, by: Array(new.text.utf8), draft: "tmp/\(Self.name)")
      if new.places.count < old.places.count { try RememberedSites(inStore: store).removeForgotten(of: new) }
      return result
    }
  }

  /// Calls `body` with the book, while no other process changes it.
  func withLock<Result>(waits: Bool, _ body: (TrustBook) throws -> Result) throws -> Result {
    let lock = try FileLock(
      lockOfStore: store, Self.lockName, waits: waits,
      reason: "another process is changing the trusted keys")
    defer { withExtendedLifetime(lock) {} }
    return try body(try read())
  }
}
