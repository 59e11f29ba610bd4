package import PackFormats
package import PackStore

/// A request to the holders of a publisher's root keys, each on a machine of their own: one rotation, and all new delegations. The text
/// contains no secret.
public struct KeySetRequest: Sendable {
  package let sets: KeySetChain

  /// The set that replaces the present one; `nil` if only delegations are requested.
  package let next: KeySet?

  package let delegations: [DelegationTerms]

  /// Whether every key of the present set has to sign, because some of them never did.
  package let provesHolders: Bool

  /// The maximum number of delegations.
  package static let delegationLimit = 64

  /// The maximum size of the text in bytes.
  static let byteCountLimit = 1 << 20

  /// - Throws: `invalidArgument` if nothing is requested, a set cannot follow, or the delegations are too many or by another set.
  package init(
    sets: KeySetChain, next: KeySet?, delegations: [DelegationTerms], provesHolders: Bool
  ) throws {
    if let next { try sets.requireNext(next) }
    let target = next ?? sets.last
    guard next != nil || !delegations.isEmpty else {
      throw PackStoreError(.invalidArgument, "the request contains neither a new key set nor a release key")
    }
    guard delegations.isEmpty || target.keys.count > 1 || !sets.hasSingleKeys else {
      throw PackStoreError(
        .invalidArgument, "a single root key delegates by itself; first request a rotation to a set of several keys")
    }
    let serials = delegations.map(\.serial)
    guard delegations.count <= Self.delegationLimit, zip(serials, serials.dropFirst()).allSatisfy({ $0 < $1 }),
      delegations.allSatisfy({ $0.rootKey == target.id })
    else { throw PackStoreError(.invalidArgument, "the request contains invalid or too many delegations") }
    self.sets = sets
    self.next = next
    self.delegations = delegations
    self.provesHolders = provesHolders && next == nil
  }

  /// The set that signs the delegations: the new one, if any.
  package var target: KeySet { next ?? sets.last }

  /// The keys that have to sign, in addition to as many as the threshold: they never signed before.
  package var newHolders: [SitePublicKey] {
    guard let next else { return provesHolders ? sets.last.keys : [] }
    return next.keys.filter { sets.last.index(of: $0) == nil }
  }

  /// The keys that may sign.
  package var holders: [SitePublicKey] {
    sets.last.keys + (next?.keys.filter { sets.last.index(of: $0) == nil } ?? [])
  }

  package var rotationMessage: [UInt8]? {
    next.map { KeySetRotation.message(first: sets.firstID, old: sets.last.id, new: $0) }
  }

  package var delegationMessages: [[UInt8]] {
    delegations.map { KeyDelegation.message($0, first: sets.firstID) }
  }

  // MARK: - As text

  private static let firstLine = "packstore key set request 1"
  private static let provesLine = "every holder signs"

  public var text: String {
    var lines = [Self.firstLine, KeySetText.line("sets", sets.bytes)]
    if let next {
      var writer = ByteWriter()
      next.encode(to: &writer)
      lines.append(KeySetText.line("next", writer.bytes))
    }
    if provesHolders { lines.append(Self.provesLine) }
    lines += delegations.map { KeySetText.line("delegation", $0.bytes) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The SHA-256 of the text, which answers contain.
  package var digest: Digest256 { Digest256(hashing: Array(text.utf8)) }

  /// Parses ``text``, and verifies all signatures in it.
  ///
  /// - Parameters:
  ///   - text: the contents of the request's file.
  ///   - file: the name for errors.
  /// - Throws: `corrupt`; `untrusted` if a signature is invalid.
  public init(text: String, file: String) throws {
    var lines = try KeySetText(text, firstLine: Self.firstLine, file: file)
    let sets = try lines.value("sets") { try KeySetChain(from: &$0) }
    let next = try lines.optionalValue("next") { try KeySet(from: &$0) }
    let provesHolders = lines.skip(Self.provesLine)
    var delegations: [DelegationTerms] = []
    while let terms = try lines.optionalValue("delegation", { try DelegationTerms(from: &$0) }) {
      delegations.append(terms)
    }
    try lines.end()
    guard !provesHolders || next == nil,
      let request = try? Self(sets: sets, next: next, delegations: delegations, provesHolders: provesHolders)
    else { throw lines.damage }
    self = request
  }
}
