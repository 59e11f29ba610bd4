import PackStore

/// A root key's statement that its site moved to a URL: `Docs/FORMAT.md`, section 21.
///
/// The root key signs the statement itself, so that a stolen release key cannot send clients to another place.
package struct SiteMove: Hashable, Sendable {
  /// The new place: an `http:` or `https:` URL of visible ASCII characters, without a user's name, query and fragment.
  package let url: String

  /// The time of the statement, in nanoseconds since 1970.
  package let madeAt: Int64

  package let rootKey: SitePublicKey

  /// The product of the site.
  package let product: Store.Product

  private let signature: [UInt8]

  package static let urlByteCountLimit = 2_048

  /// Creates and signs a statement.
  ///
  /// - Parameter madeAt: the time, in nanoseconds since 1970.
  /// - Throws: `invalidArgument` for an unsuitable URL; `untrusted` if the key is a release key.
  package init(to url: String, of product: Store.Product, by root: SiteKey, madeAt: Int64) throws {
    guard Self.isSuitable(url) else {
      var error = PackStoreError(.invalidArgument, "not a URL that a site can move to", about: .site(url))
      error.specificRemedy = "use an http or https URL of ASCII characters, without a user's name, '?' and '#'"
      throw error
    }
    guard root.delegation == nil else {
      var error = PackStoreError(.untrusted, "a release key cannot sign a move", about: .site(url))
      error.specificRemedy = "use the root key \(root.rootKey)"
      throw error
    }
    self.url = url
    self.madeAt = madeAt
    rootKey = root.publicKey
    self.product = product
    signature = try root.signature(of: Self.message(madeAt, root.publicKey, product, url), as: .move)
  }

  /// Whether a text is a URL that a statement may contain.
  package static func isSuitable(_ url: String) -> Bool {
    guard url.utf8.count <= urlByteCountLimit, url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let match = url.wholeMatch(of: /(https?):\/\/([^\/]+)(\/.*)?/)
    else { return false }
    return !match.output.2.contains("@") && !url.contains("?") && !url.contains("#") && !url.contains("\\")
  }

  // MARK: - As an extension of a root

  /// The type of the extension, which is not critical.
  package static let extensionType: UInt16 = 0x12

  package var extensionBytes: [UInt8] { Self.message(madeAt, rootKey, product, url) + signature }

  /// Decodes untrusted bytes, and verifies the signature.
  ///
  /// - Throws: `untrusted` if the signature is invalid, `corrupt`.
  package init(extensionBytes bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    madeAt = try reader.integer()
    guard let rootKey = SitePublicKey(try reader.take(SitePublicKey.byteCount)) else {
      throw reader.corrupt("invalid key in the statement of a move", at: 8)
    }
    self.rootKey = rootKey
    product = try reader.product()
    url = try reader.text(limit: Self.urlByteCountLimit, "invalid URL in the statement of a move") {
      Self.isSuitable($0) ? $0 : nil
    }
    signature = Array(try reader.take(SiteKey.signatureByteCount))
    try reader.end()
    guard rootKey.verifies(signature, of: Self.message(madeAt, rootKey, product, url), as: .move) else {
      throw PackStoreError(.untrusted, "the statement of a move has an invalid signature", file: file)
    }
  }

  private static func message(
    _ madeAt: Int64, _ rootKey: SitePublicKey, _ product: Store.Product, _ url: String
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(madeAt)
    writer.append(rootKey.bytes)
    writer.append(text: product.name)
    writer.append(text: url)
    return writer.bytes
  }
}

extension SiteRoot {
  /// Whether the root contains the statement of a move, valid or not: publishers then leave the site as it is.
  package var hasMove: Bool { otherExtensions.contains { $0.type == SiteMove.extensionType } }

  /// Sets or removes the statement of a move.
  package mutating func setMove(_ move: SiteMove?) {
    otherExtensions.removeAll { $0.type == SiteMove.extensionType }
    guard let move else { return }
    otherExtensions.append(Extension(type: SiteMove.extensionType, bytes: move.extensionBytes))
    otherExtensions.sort { $0.type < $1.type }
  }
}

extension SignedSiteRoot {
  /// The statement that the site moved, if it is signed by the present root key of this root for its product; `nil` otherwise, and
  /// always for an unsigned root.
  package var move: SiteMove? {
    guard let authority, let known = root.otherExtensions.first(where: { $0.type == SiteMove.extensionType }),
      let move = try? SiteMove(extensionBytes: known.bytes, file: SitePath.root(root.channel).description),
      move.rootKey == authority.rootKey, move.product == root.product
    else { return nil }
    return move
  }
}
