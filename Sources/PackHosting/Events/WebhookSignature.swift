#if Hosting
  import Crypto
  import Foundation

  /// The value of `x-apple-signature`.
  enum WebhookSignature {
    static let header = "x-apple-signature"

    static func value(of body: String, secret: String) -> String {
      let code = HMAC<SHA256>.authenticationCode(for: Data(body.utf8), using: SymmetricKey(data: Data(secret.utf8)))
      return "hmacsha256=\(code.hex)"
    }
  }
#endif
