import SystemPackage

/// Where a store keeps its ``TrustBook``: the file `trust` in its folder.
package struct TrustFile: Sendable {
  private static let sizeLimit = 16 << 20
  private let store: String

  package init(inStore store: String) { self.store = store }

  private var path: String { "\(store)/trust" }

  /// Reads the book.
  ///
  /// - Throws: `corrupt` when the file holds something else; `unreachable` when it cannot be read.
  package func read() throws -> TrustBook {
    guard let bytes = try readFile(path, upTo: Self.sizeLimit) else { return TrustBook() }
    guard let text = String(validating: bytes, as: UTF8.self), let book = TrustBook(text: text) else {
      throw DeliveryError(
        .corrupt, "the file of trusted keys is damaged; without it, the next contact counts as the first", at: path)
    }
    return book
  }

  /// Changes the book. Other processes wait meanwhile; after a crash it is the old or the new one.
  package func update<Result>(_ body: (inout TrustBook) throws -> Result) throws -> Result {
    try withFolderLock(store) {
      let old = try read()
      var new = old
      let result = try body(&new)
      if new != old { try replaceFile(path, by: Array(new.text.utf8), via: "\(store)/tmp/trust", in: store) }
      return result
    }
  }
}
