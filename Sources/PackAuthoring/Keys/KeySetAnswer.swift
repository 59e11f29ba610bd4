import PackFormats
public import PackStore

/// The signatures of one holder for a ``KeySetRequest``. The text contains no secret.
public struct KeySetAnswer: Sendable {
  /// The SHA-256 of the request's text.
  package let request: Digest256

  /// The key that signed.
  public let key: SitePublicKey

  /// The signature of the rotation; `nil` if the request has none.
  package let rotation: [UInt8]?

  /// The signatures of the delegations, in order; empty if the key does not belong to the set that delegates.
  package let delegations: [[UInt8]]

  /// Signs a request, without a note in the key's file.
  ///
  /// - Throws: `untrusted` if the key does not belong to the sets of the request; errors of the key's signer.
  init(_ request: KeySetRequest, by key: SiteKey) throws {
    guard key.delegation == nil, request.holders.contains(key.publicKey) else {
      throw PackStoreError(.untrusted, "the key \(key.publicKey) does not belong to the key sets of the request")
    }
    self.request = request.digest
    self.key = key.publicKey
    rotation = try request.rotationMessage.map { try key.signature(of: $0, as: .setRotation) }
    let delegates = request.target.index(of: key.publicKey) != nil
    delegations =
      try delegates
      ? request.delegationMessages.map { try key.signature(of: $0, as: .setDelegation) } : []
  }

  // MARK: - As text

  private static let firstLine = "packstore key set signatures 1"

  /// The maximum size of the text in bytes.
  static let byteCountLimit = 64 << 10

  public var text: String {
    let lines =
      [Self.firstLine, "request \(request.hex)", "key \(key)"]
      + [rotation].compactMap { $0 }.map { Self.line("rotation", $0) }
      + delegations.map { Self.line("delegation", $0) }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func line(_ word: String, _ signature: [UInt8]) -> String { KeySetText.line(word, signature) }

  /// Parses ``text``. The signatures are verified when the request is completed.
  ///
  /// - Parameters:
  ///   - text: the contents of the answer's file.
  ///   - file: the name for errors.
  /// - Throws: `corrupt`.
  public init(text: String, file: String) throws {
    var lines = try KeySetText(text, firstLine: Self.firstLine, file: file)
    guard let request = Digest256(hex: try lines.word("request")), let key = SitePublicKey(try lines.word("key")) else {
      throw lines.damage
    }
    func signature(_ reader: inout ByteReader) throws -> [UInt8] {
      try Array(reader.take(SiteKey.signatureByteCount))
    }
    self.request = request
    self.key = key
    rotation = try lines.optionalValue("rotation", signature)
    var delegations: [[UInt8]] = []
    while let next = try lines.optionalValue("delegation", signature) { delegations.append(next) }
    self.delegations = delegations
    try lines.end()
  }
}
