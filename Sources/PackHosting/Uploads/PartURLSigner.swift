#if Hosting
  import Crypto
  import Foundation

  /// Signs the URLs of parts, and checks them. A URL is a secret: it authorizes one PUT of one part until it expires.
  struct PartURLSigner: Sendable {
    private let key: SymmetricKey

    /// - Parameter secret: 32 random bytes that only this host has.
    init(secret: [UInt8]) { key = SymmetricKey(data: secret) }

    static let method = "PUT"

    /// Returns the path and query of a part's URL.
    func target(of part: UploadPartRecord, expires: Timestamp) -> String {
      let path = Self.path(part.fileID, part.number)
      let code = HMAC<SHA256>.authenticationCode(for: Self.message(path, part, expires.seconds), using: key)
      return "\(path)?expires=\(expires.seconds)&signature=\(code.hex)"
    }

    /// Whether a signature belongs to a part and a time.
    func isValid(_ claim: PartURLClaim, for part: UploadPartRecord) -> Bool {
      let message = Self.message(Self.path(part.fileID, part.number), part, claim.expires)
      return HMAC<SHA256>.isValidAuthenticationCode(claim.signature, authenticating: message, using: key)
    }

    private static func path(_ file: Identifier<UploadFileRecord>, _ number: Int) -> String { "/u/\(file)/\(number)" }

    private static func message(_ path: String, _ part: UploadPartRecord, _ expires: Int64) -> Data {
      Data("\(method)\n\(path)\n\(part.offset)\n\(part.length)\n\(expires)\n\(part.fileID)".utf8)
    }
  }

  /// The contents of a part's URL, before its signature was checked.
  struct PartURLClaim: Hashable, Sendable {
    let file: Identifier<UploadFileRecord>
    let number: Int

    /// Seconds since 1970.
    let expires: Int64
    let signature: [UInt8]

    /// Parses the path and query of a request; `nil` if they have another form.
    init?(target: String) {
      guard target.utf8.count <= 512 else { return nil }
      let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      let path = halves[0].split(separator: "/", omittingEmptySubsequences: false)
      guard halves.count == 2, path.count == 4, path[0].isEmpty, path[1] == "u", let number = Int(path[3]) else {
        return nil
      }
      let items = halves[1].split(separator: "&", omittingEmptySubsequences: false)
      guard items.count == 2, let expires = Self.value("expires", items[0]).flatMap({ Int64($0) }),
        let signature = Self.value("signature", items[1]).flatMap({ [UInt8](hex: $0) })
      else { return nil }
      self.file = Identifier(rawValue: String(path[2]))
      self.number = number
      self.expires = expires
      self.signature = signature
    }

    private static func value(_ name: String, _ item: Substring) -> Substring? {
      item.hasPrefix(name + "=") ? item.dropFirst(name.count + 1) : nil
    }
  }
#endif
