import CPackStore

/// The name of a publisher's product: packs of one product are one origin, whichever site or file they come by.
///
/// 1 to 64 of the characters `a-z 0-9 - _ .`, the first of them a letter or a digit.
public struct Product: Hashable, Comparable, Sendable {
  public let name: String

  /// What publishers have who name none.
  public static let standard = Self(trusted: "default")

  /// The most bytes that a name has.
  package static let byteCountLimit = 64

  /// - Throws: `invalidArgument` for what is no name of a product.
  public init(_ name: some StringProtocol) throws(PackStoreError) {
    let isFirst: (UInt8) -> Bool = { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 }
    let isNext: (UInt8) -> Bool = { isFirst($0) || $0 == 0x2d || $0 == 0x5f || $0 == 0x2e }
    guard let first = name.utf8.first, isFirst(first), name.utf8.allSatisfy(isNext),
      name.utf8.count <= Self.byteCountLimit
    else {
      throw PackStoreError(
        .invalidArgument, "a product's name is 1 to 64 of a-z, 0-9, '-', '_' and '.', and begins with a letter or digit"
      )
    }
    self.name = String(name)
  }

  init(trusted name: String) { self.name = name }

  public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
}

extension Product: CustomStringConvertible {
  public var description: String { name }
}

/// Where a pack comes from: who may change it.
public enum Origin: Hashable, Sendable {
  /// What this machine added itself.
  case local
  /// A publisher's product. The key is the publisher's first root key.
  case signed(SitePublicKey, Product)
  /// A product of a publisher without a key.
  case unsigned(Product)
  /// What a repair found without a word about where it came from.
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

  /// What people call it: `local`, `unknown`, or 16 hexadecimal digits.
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
      guard let key else { preconditionFailure("the core lists no signed origin without a key") }
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

/// By whose word a pack is brought to a version. Signatures were checked.
package struct Provenance: Hashable, Sendable {
  package enum Statement: Hashable, Sendable { case root, archive, delta }

  package var origin: Origin
  package var statement: Statement
  /// Of the statement: its publisher only raises it.
  package var sequence: UInt64
  /// Takes the pack over if it is of another origin.
  package var adopts = false
  /// Takes a version that is lower than the one that was accepted last.
  package var allowsDowngrade = false

  package init(
    _ origin: Origin, _ statement: Statement, sequence: UInt64, adopts: Bool = false, allowsDowngrade: Bool = false
  ) {
    self.origin = origin
    self.statement = statement
    self.sequence = sequence
    self.adopts = adopts
    self.allowsDowngrade = allowsDowngrade
  }

  var core: pks_provenance {
    var provenance = pks_provenance()
    provenance.origin = origin.core
    provenance.statement =
      switch statement {
      case .root: PKS_STATEMENT_ROOT
      case .archive: PKS_STATEMENT_ARCHIVE
      case .delta: PKS_STATEMENT_DELTA
      }
    provenance.sequence = sequence
    provenance.adopt = adopts
    provenance.downgrade = allowsDowngrade
    return provenance
  }
}

extension Snapshot {
  /// The origins of packs, in the order in which their packs win. The local one is always among them.
  public var origins: [Origin] {
    (0..<pks_snapshot_origin_count(pointer)).map { Origin(pks_snapshot_origin(pointer, $0)) }
  }
}

extension Transaction {
  /// The origins as they will be after the commit, in the order in which their packs win.
  public var origins: [Origin] { (0..<pks_txn_origin_count(pointer)).map { Origin(pks_txn_origin(pointer, $0)) } }

  /// Stages that the packs of these origins win first, in this order; the others follow as they were.
  ///
  /// - Throws: `notFound` for an origin that the store does not know; `invalidArgument` when one is named twice.
  public mutating func setOrder(of origins: [Origin]) throws(PackStoreError) {
    let core = origins.map(\.core)
    try check { error in
      core.withUnsafeBufferPointer {
        pks_txn_order_origins(pointer, $0.baseAddress, UInt32(clamping: $0.count), error)
      }
    }
  }

  /// Stages that an origin is forgotten, with the versions that were accepted last from it.
  ///
  /// - Throws: `notFound`; `invalidArgument` for the local origin, and for one of which a pack, or the history of one, is here.
  public mutating func forget(_ origin: Origin) throws(PackStoreError) {
    var core = origin.core
    try check { pks_txn_forget_origin(pointer, &core, $0) }
  }
}
