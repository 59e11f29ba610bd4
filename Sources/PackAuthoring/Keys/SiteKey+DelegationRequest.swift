public import PackFormats
public import PackStore

// A delegation between keys on two machines. The publishing machine sends the public half of its key, and the owner of the root key
// answers with a signed delegation. Neither machine receives the other's secret key.

extension SiteKey {
  /// A request for a delegation: the public half of a key, and the scope of its signatures.
  public struct DelegationRequest: Hashable, Codable, Sendable {
    public let releaseKey: SitePublicKey
    public let product: Store.Product

    /// The channels to sign; empty for all.
    public let channels: [SiteChannel]

    public init(releaseKey: SitePublicKey, product: Store.Product, channels: [SiteChannel] = []) {
      self.releaseKey = releaseKey
      self.product = product
      self.channels = channels
    }
  }

  /// Signs the requested delegation, and records its serial in the root key's file.
  ///
  /// - Parameters:
  ///   - root: the root key's file.
  ///   - validity: the time for which the delegation is valid, from now on; `nil` for no limit.
  /// - Returns: the text of the answer, which contains no secret.
  /// - Throws: `notFound` if the file is missing; `invalidArgument` if it contains a release key, or the serials are used up;
  ///   errors of reading and writing key files.
  public static func answer(
    _ request: DelegationRequest, by root: FilePath, validity: Duration? = DelegationOptions.standardValidity
  ) throws -> String {
    try answer(request, by: root, validity: validity, now: nanosecondsSince1970())
  }

  /// - Parameter now: the current time, in nanoseconds since 1970.
  static func answer(
    _ request: DelegationRequest, by rootFile: FilePath, validity: Duration?, now: Int64
  ) throws -> String {
    let root = try SiteKey(contentsOf: rootFile)
    let serial = SiteRoot.nextSequence(after: root.highestSerial, at: now)
    guard serial <= PackVersion.lastNumber else {
      throw PackStoreError(.invalidArgument, "the root key has used up its serial numbers", file: rootFile.string)
    }
    let text = try root.delegationText(
      for: request.releaseKey, serial: serial, madeAt: now, endsAt: validity.map { now.addingClamped($0.nanoseconds) },
      product: request.product, channels: request.channels)
    try note(
      serial, revokedBelow: root.revocations.serial(for: request.product), of: request.product, by: root, in: rootFile)
    return text
  }

  /// Returns this key as a release key, with the delegation in an answer to its request.
  ///
  /// - Parameters:
  ///   - answer: the text that `answer(_:by:validity:)` returned.
  ///   - product: the product in the request.
  /// - Throws: `corrupt` if the text is not such an answer; `untrusted` if it is for another key or product.
  public func delegated(byAnswer answer: String, for product: Store.Product) throws -> SiteKey {
    let key = try delegated(byText: answer)
    guard key.delegation?.product == product else {
      throw PackStoreError(
        .untrusted, "the delegation is for another product than '\(product)'; answer the newest request")
    }
    return key
  }
}
