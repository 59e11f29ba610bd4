/// The result of a library call as one JSON object, with the member `dry_run`.
struct DryRunReport<Result: Encodable>: Encodable {
  private enum Keys: String, CodingKey { case dryRun }

  private let result: Result
  private let isDryRun: Bool

  /// - Parameter result: must be encoded as an object without that member.
  init(_ result: Result, isDryRun: Bool) {
    self.result = result
    self.isDryRun = isDryRun
  }

  func encode(to encoder: any Encoder) throws {
    try result.encode(to: encoder)
    var members = encoder.container(keyedBy: Keys.self)
    try members.encode(isDryRun, forKey: .dryRun)
  }
}
