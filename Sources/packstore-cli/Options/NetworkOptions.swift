import ArgumentParser
import PackDelivery
import PackStore

/// Options for the limits of requests to servers: time, rate, metadata, redirects and certificates.
struct NetworkOptions: ParsableArguments {
  @Option(
    help: .init("Time without an answer after which a request is repeated (default: 30).", valueName: "seconds"),
    transform: parseSeconds)
  var answerLimit: Duration?

  @Option(
    help: .init(
      "Minimum rate over a minute, in bytes per second, such as 4k; 0 accepts any rate (default: 1024).",
      valueName: "bytes"),
    transform: parseByteCount)
  var minRate: Int?

  @Option(
    help: .init(
      "Time to download the site's root (default: 120).", valueName: "seconds"),
    transform: parseSeconds)
  var rootLimit: Duration?

  @Option(
    help: .init(
      """
      Maximum metadata of a version, in addition to 5 % of its size (1 GiB at most), and of root, attribute sheets \
      and manifests together; such as 200M (default: 64 MiB).
      """,
      valueName: "bytes"),
    transform: parseByteCount)
  var metadataLimit: Int?

  @Option(help: .init("Maximum number of redirects per request (default: 5).", valueName: "n"))
  var redirects: Int?

  @Option(help: .trustedCertificates, completion: .file())
  var ca: String?

  @Flag(help: "Follow redirects from public servers to private networks and this machine.")
  var allowPrivateRedirects = false

  func validate() throws {
    guard (0...20).contains(redirects ?? 0) else { throw ValidationError("--redirects must be from 0 to 20") }
    guard ca?.isEmpty != true else { throw ValidationError("--ca needs a file") }
  }

  /// The process's environment with the trusted certificates; `nil` for the unchanged environment.
  var environment: [String: String]? {
    ca.map { ProcessInfo.processInfo.environment.merging(["SSL_CERT_FILE": $0]) { $1 } }
  }

  var limits: Store.PullOptions.NetworkLimits {
    var limits = Store.PullOptions.NetworkLimits()
    if let answerLimit { limits.answerLimit = answerLimit }
    if let minRate { limits.minimumByteRate = minRate }
    if let rootLimit { limits.rootLimit = rootLimit }
    if let metadataLimit { limits.metadataByteLimit = metadataLimit }
    if let redirects { limits.redirectLimit = redirects }
    limits.allowsPrivateRedirects = allowPrivateRedirects
    return limits
  }
}

/// The option for the certificates of a server, for commands without other limits of requests.
struct CertificateOption: ParsableArguments {
  @Option(help: .trustedCertificates, completion: .file())
  var ca: String?

  func validate() throws {
    guard ca?.isEmpty != true else { throw ValidationError("--ca needs a file") }
  }

  /// The process's environment with the trusted certificates.
  var environment: [String: String] {
    let environment = ProcessInfo.processInfo.environment
    return ca.map { environment.merging(["SSL_CERT_FILE": $0]) { $1 } } ?? environment
  }
}

/// Parses a positive number of bytes per second; see ``parseByteCount(_:)``.
@Sendable func parseByteRate(_ text: String) throws -> Int {
  guard let bytes = byteCount(text), bytes > 0 else {
    throw ValidationError("'\(text)' is not a number of bytes per second; use 500000, 500k or 2MB")
  }
  return bytes
}

/// Parses a number of bytes with an optional factor, `k` (10^3), `M` (10^6) or `G` (10^9), and an optional `B` at the end.
@Sendable func parseByteCount(_ text: String) throws -> Int {
  guard let bytes = byteCount(text) else {
    throw ValidationError("'\(text)' is not a number of bytes; use 500000, 500k or 2MB")
  }
  return bytes
}

/// Parses a number of seconds, from 1 to 1,000,000.
@Sendable func parseSeconds(_ text: String) throws -> Duration {
  guard let seconds = Int(text), (1...1_000_000).contains(seconds) else {
    throw ValidationError("'\(text)' is not a number of seconds from 1 to 1000000")
  }
  return .seconds(seconds)
}

private func byteCount(_ text: String) -> Int? {
  let factors: [Character: Int] = ["k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000]
  let amount = text.hasSuffix("B") ? text.dropLast() : text[...]
  let factor = amount.last.flatMap { factors[$0] }
  let digits = factor == nil ? amount : amount.dropLast()
  guard let number = Int(digits), number >= 0,
    case let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1),
    !isTooLarge
  else { return nil }
  return bytes
}
