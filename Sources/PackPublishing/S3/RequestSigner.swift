import CPackHash
import PackStore

/// Signs requests with AWS signature version 4, in a header.
package struct RequestSigner: Sendable {
  package let credentials: Credentials
  package let region: String
  private static let algorithm = "AWS4-HMAC-SHA256"
  private static let service = "s3"

  package init(credentials: Credentials, region: String) {
    self.credentials = credentials
    self.region = region
  }

  /// The signed content, including all headers except those that intermediaries may change.
  package struct Request: Sendable {
    package var method: String

    /// The path as sent: ``path(_:)``.
    package var path: String
    package var query: [(name: String, value: String)] = []
    package var headers: [(name: String, value: String)]

    /// The SHA-256 of the body, in hexadecimal digits.
    package var payload: String

    package init(
      method: String, path: String, query: [(name: String, value: String)] = [],
      headers: [(name: String, value: String)], payload: String
    ) {
      self.method = method
      self.path = path
      self.query = query
      self.headers = headers
      self.payload = payload
    }
  }

  /// Returns the request with signature headers, at a time in seconds since 1970.
  package func sign(_ request: Request, at seconds: Int64) -> Request {
    var request = request
    let (day, time) = ServerClock.stamp(seconds)
    request.headers.append(("x-amz-date", time))
    request.headers.append(("x-amz-content-sha256", request.payload))
    if let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
    let (canonical, signed) = Self.canonicalForm(of: request)
    let scope = "\(day)/\(region)/\(Self.service)/aws4_request"
    let text = [Self.algorithm, time, scope, Digest256(hashing: Array(canonical.utf8)).hex].joined(separator: "\n")
    let signature = Self.hex(Self.code(text, signingKey(day)))
    request.headers.append(
      (
        "authorization",
        "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(signed), Signature=\(signature)"
      ))
    return request
  }

  private func signingKey(_ day: String) -> [UInt8] {
    [day, region, Self.service, "aws4_request"].reduce(Array("AWS4\(credentials.secretAccessKey)".utf8)) { key, part in
      Self.code(part, key)
    }
  }

  private static func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: PKH_SHA256_SIZE)
    let message = Array(text.utf8)
    pkh_hmac_sha256(key, key.count, message, message.count, &code)
    return code
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  // MARK: - The canonical form

  /// Headers that proxies and libraries add or change.
  private static let unsigned: Set<String> = [
    "expect", "transfer-encoding", "user-agent", "x-amzn-trace-id", "connection",
  ]

  /// Returns the text to sign, and the signed headers.
  private static func canonicalForm(of request: Request) -> (text: String, signedHeaders: String) {
    var headers: [String: [String]] = [:]
    for (name, value) in request.headers {
      let name = name.lowercased()
      if !unsigned.contains(name) { headers[name, default: []].append(trimmed(value)) }
    }
    let names = headers.keys.sorted()
    let lines = names.map { "\($0):\((headers[$0] ?? []).joined(separator: ","))\n" }.joined()
    let signed = names.joined(separator: ";")
    let query = queryText(request.query)
    return (
      [request.method, request.path, query, lines, signed, request.payload].joined(separator: "\n"), signed
    )
  }

  /// Removes spaces at the ends, and reduces others to single spaces.
  private static func trimmed(_ value: String) -> String {
    let words = value.utf8.split { $0 == 0x20 || (0x09...0x0d).contains($0) }
    return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }

  /// Returns a query as sent and signed: in order of the encoded names, then values.
  package static func queryText(_ query: [(name: String, value: String)]) -> String {
    query.map { (encoded($0.name), encoded($0.value)) }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  /// Returns a path as sent and signed.
  package static func path(_ path: String) -> String { encoded(path, keeping: "/") }

  /// Encodes each byte that is not unreserved as `%XX`.
  private static func encoded(_ text: String, keeping kept: Character? = nil) -> String {
    var result = ""
    for byte in text.utf8 {
      let character = Character(UnicodeScalar(byte))
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: result.append(character)
      case _ where "-_.~".utf8.contains(byte) || character == kept: result.append(character)
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
