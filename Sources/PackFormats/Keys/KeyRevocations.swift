import PackStore

/// The serials that a root key revoked, for each product: a theft of one product's release key does not affect the devices of another
/// product.
package struct KeyRevocations: Hashable, Sendable {
  /// The serial below which delegations of every product are revoked; `nil` if none is. Earlier versions recorded no product.
  private var everyProduct: UInt64?

  private var products: [Store.Product: UInt64] = [:]

  private static let word = "revoked"

  package init() {}

  /// Returns the serial below which the delegations of a product are revoked; 0 if none is.
  package func serial(for product: Store.Product) -> UInt64 { max(everyProduct ?? 0, products[product] ?? 0) }

  /// Returns these revocations with one more. A lower serial than the known one changes nothing.
  package func revoking(below serial: UInt64, of product: Store.Product) -> KeyRevocations {
    guard serial > self.serial(for: product) else { return self }
    var next = self
    next.products[product] = serial
    return next
  }

  /// Returns the higher serial of each product.
  package func merging(_ other: KeyRevocations) -> KeyRevocations {
    var merged = self
    merged.everyProduct = [everyProduct, other.everyProduct].compactMap { $0 }.max()
    merged.products.merge(other.products) { max($0, $1) }
    return merged
  }

  // MARK: - As text

  /// The lines of a key file: `revoked V`, then `revoked V PRODUCT` for each product, in bytewise order of the products.
  package var lines: [String] {
    [everyProduct].compactMap { $0 }.map { "\(Self.word) \($0)" }
      + products.sorted { $0.key < $1.key }.map { "\(Self.word) \($0.value) \($0.key)" }
  }

  /// Parses ``lines``; `nil` if they are not exactly of that form, or if a serial is above `highest`.
  package init?(lines: some Sequence<Substring>, highest: UInt64) {
    var last: Store.Product?
    for (index, line) in lines.enumerated() {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard 2...3 ~= words.count, words[0] == Self.word, let serial = UInt64(words[1]), "\(serial)" == words[1],
        serial > 0, serial <= highest
      else { return nil }
      guard words.count == 3 else {
        guard index == 0 else { return nil }
        everyProduct = serial
        continue
      }
      guard let product = try? Store.Product(words[2]), last.map({ $0 < product }) ?? true else { return nil }
      products[product] = serial
      last = product
    }
  }
}
