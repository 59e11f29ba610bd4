import CPackStore

extension Store {
  /// The source of a pack. Only the same origin may change the pack, unless the pack is adopted.
  public enum Origin: Hashable, Sendable {
    /// A pack that this machine added itself.
    case local
    /// A publisher's product. The key is the publisher's first root key.
    case signed(SitePublicKey, Product)
    /// A product of a publisher without a key.
    case unsigned(Product)
    /// A pack that a repair found without a record of its origin.
    case unknown

    public var product: Product? {
      switch self {
      case .signed(_, let product), .unsigned(let product): product
      case .local, .unknown: nil
      }
    }

    public var key: SitePublicKey? {
      if case .signed(let key, _) = self { key } else { nil }
    }

    /// The id for messages and commands: `local`, `unknown`, or 16 hexadecimal digits.
    public var id: String {
      guard let product else { return self == .local ? "local" : "unknown" }
      let key = key?.bytes ?? [UInt8](repeating: 0, count: SitePublicKey.byteCount)
      let digest = Digest256(hashing: Array("packstore origin".utf8) + key + Array(product.name.utf8))
      return String(digest.hex.prefix(16))
    }

    init(_ origin: pks_origin) {
      let name = withUnsafeBytes(of: origin.product) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let key = withUnsafeBytes(of: origin.key) { SitePublicKey(Array($0)) }
      switch origin.kind {
      case PKS_ORIGIN_LOCAL: self = .local
      case PKS_ORIGIN_UNSIGNED: self = .unsigned(Product(trusted: name))
      case PKS_ORIGIN_SIGNED:
        guard let key else { preconditionFailure("the core returned a signed origin without a key") }
        self = .signed(key, Product(trusted: name))
      default: self = .unknown
      }
    }

    var core: pks_origin {
      var origin = pks_origin()
      switch self {
      case .local: origin.kind = PKS_ORIGIN_LOCAL
      case .signed: origin.kind = PKS_ORIGIN_SIGNED
      case .unsigned: origin.kind = PKS_ORIGIN_UNSIGNED
      case .unknown: origin.kind = PKS_ORIGIN_UNKNOWN
      }
      withUnsafeMutableBytes(of: &origin.key) { $0.copyBytes(from: key?.bytes ?? []) }
      withUnsafeMutableBytes(of: &origin.product) { $0.copyBytes(from: (product?.name ?? "").utf8) }
      return origin
    }
  }
}

extension Store.Origin: Codable {
  private enum CodingKeys: CodingKey { case kind, key, product }

  private enum Kind: String, Codable { case local, signed, unsigned, unknown }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self =
      switch try container.decode(Kind.self, forKey: .kind) {
      case .local: .local
      case .unknown: .unknown
      case .unsigned: .unsigned(try container.decode(Store.Product.self, forKey: .product))
      case .signed:
        .signed(
          try container.decode(SitePublicKey.self, forKey: .key),
          try container.decode(Store.Product.self, forKey: .product))
      }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let kind: Kind =
      switch self {
      case .local: .local
      case .signed: .signed
      case .unsigned: .unsigned
      case .unknown: .unknown
      }
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(key, forKey: .key)
    try container.encodeIfPresent(product, forKey: .product)
  }
}

/// The origin of a pack version and the signed file that lists it. Signatures are already verified.
package struct Provenance: Hashable, Sendable {
  /// The kind of file that lists a version.
  package enum Statement: Hashable, Sendable {
    case root, archive, delta
    /// A change by this machine itself, which has no sequence number.
    case own
  }

  package var origin: Store.Origin
  package var statement: Statement
  /// The serial of the delegation that authorizes the signature; 0 if the file is unsigned.
  package var serial: UInt64
  /// Serials below this one are revoked: versions accepted under them no longer set a lower bound. 0 if none is revoked.
  package var revokedBelow: UInt64 = 0
  /// The sequence number of the file. A publisher only raises it.
  package var sequence: UInt64
  /// The epoch of a root's offer; 0 for other files.
  package var epoch: UInt64 = 0
  /// The highest number that the root's channel ever offered of the pack; 0 for other files.
  package var highest: UInt64 = 0
  /// A number that the root offers, but not to the client's app version or platform; `nil` if none. If it is the version that was
  /// accepted last, a lower version is accepted.
  package var excluded: UInt64?
  /// Whether to adopt the pack if it has another origin.
  package var adopts = false
  /// Whether to accept a version below the last accepted one.
  package var allowsDowngrade = false

  package init(
    _ origin: Store.Origin, _ statement: Statement, serial: UInt64, sequence: UInt64, adopts: Bool = false,
    allowsDowngrade: Bool = false
  ) {
    self.origin = origin
    self.statement = statement
    self.serial = serial
    self.sequence = sequence
    self.adopts = adopts
    self.allowsDowngrade = allowsDowngrade
  }

  /// Makes the pack the machine's own, regardless of its origin. Publishers use it for the packs that they publish.
  package static let ownWord = Provenance(.local, .own, serial: 0, sequence: 0, adopts: true)

  var core: pks_provenance {
    var provenance = pks_provenance()
    provenance.origin = origin.core
    provenance.statement =
      switch statement {
      case .root: PKS_STATEMENT_ROOT
      case .archive: PKS_STATEMENT_ARCHIVE
      case .delta: PKS_STATEMENT_DELTA
      case .own: PKS_STATEMENT_NONE
      }
    provenance.serial = serial
    provenance.revoked_below = revokedBelow
    provenance.sequence = sequence
    provenance.epoch = epoch
    provenance.highest = highest
    provenance.excluded = excluded ?? 0
    provenance.adopt = adopts
    provenance.downgrade = allowsDowngrade
    return provenance
  }
}
