#if Hosting
  import Crypto
  import Foundation
  import PackStore

  /// A token in the compact form of RFC 7515, decoded but not yet trusted: check ``isSigned(by:)`` before using ``claims``.
  struct JSONWebToken: Sendable {
    /// The largest token that is decoded, in bytes.
    static let byteCountLimit = 12 << 10

    let keyID: String
    let claims: TokenClaims
    private let signature: [UInt8]
    private let signedBytes: [UInt8]

    /// Returns `nil` for every token that no signature can make valid.
    ///
    /// Only ES256 is accepted, so neither `none` nor a symmetric algorithm can replace it. A token that marks header fields as
    /// critical is refused, because this host supports none.
    init?(_ text: Substring) {
      guard text.utf8.count <= Self.byteCountLimit else { return nil }
      let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
        let signature = Base64URL.decode(parts[2]), signature.count == 64
      else { return nil }
      let fields = Dictionary(header.map { ($0.name, $0.value) }) { first, _ in first }
      guard fields["alg"]?.string == "ES256", fields["crit"] == nil, Self.isType(fields["typ"]),
        let keyID = fields["kid"]?.string, (1...128).contains(keyID.utf8.count), let claims = TokenClaims(payload)
      else { return nil }
      (self.keyID, self.claims, self.signature) = (keyID, claims, signature)
      signedBytes = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
    }

    private static func isType(_ value: JSONValue?) -> Bool { value == nil || value?.string?.uppercased() == "JWT" }

    /// Returns the members of an object that is unambiguous: no name appears twice.
    private static func object(_ text: Substring) -> [JSONMember]? {
      guard let bytes = Base64URL.decode(text) else { return nil }
      let document = JSONReader.read(bytes)
      return document.faults.isEmpty ? document.root?.object : nil
    }

    /// - Parameter publicKey: 65 bytes, in the uncompressed form of X9.63.
    func isSigned(by publicKey: Data) -> Bool {
      guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
        let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
      else { return false }
      return key.isValidSignature(signature, for: signedBytes)
    }
  }

  /// The claims of a token.
  struct TokenClaims: Sendable {
    var issuer: String?
    var subject: String?
    var audiences: [String]

    /// Moments may have fractions of a second: some clients write them.
    var issued: Timestamp?
    var notBefore: Timestamp?
    var expires: Timestamp

    /// Requests that the token is for, such as `GET /v1/apps`; `nil` for all.
    var scope: [String]?

    /// Returns `nil` if a claim has another type, or if `exp` or `aud` is missing. A claim that is `null` is missing.
    fileprivate init?(_ members: [JSONMember]) {
      var values: [String: JSONValue] = [:]
      for member in members {
        if case .null = member.value.content { continue }
        values[member.name] = member.value
      }
      guard let expires = values["exp"].flatMap(Self.moment), let audiences = values["aud"].flatMap(Self.texts),
        values["iss"].map({ $0.string != nil }) ?? true, values["sub"].map({ $0.string != nil }) ?? true,
        values["iat"].map({ Self.moment($0) != nil }) ?? true, values["nbf"].map({ Self.moment($0) != nil }) ?? true,
        values["scope"].map({ $0.array != nil }) ?? true
      else { return nil }
      (self.expires, self.audiences) = (expires, audiences)
      (issuer, subject) = (values["iss"]?.string, values["sub"]?.string)
      (issued, notBefore) = (values["iat"].flatMap(Self.moment), values["nbf"].flatMap(Self.moment))
      if let scope = values["scope"] {
        guard let texts = Self.texts(scope) else { return nil }
        self.scope = texts
      }
    }

    /// Reads a text or a list of texts.
    private static func texts(_ value: JSONValue) -> [String]? {
      if let text = value.string { return [text] }
      guard let items = value.array else { return nil }
      let texts = items.compactMap(\.string)
      return texts.count == items.count ? texts : nil
    }

    /// Reads seconds since 1970.
    private static func moment(_ value: JSONValue) -> Timestamp? {
      guard case .number(let text) = value.content, text.utf8.count <= 40, let seconds = Double(text),
        (0...100_000_000_000).contains(seconds), let milliseconds = Int64(exactly: (seconds * 1000).rounded(.down))
      else { return nil }
      return Timestamp(rawValue: milliseconds)
    }
  }
#endif
