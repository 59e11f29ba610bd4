import PackStore

/// Something that is wrong with a manifest, or with what it selects.
public struct ManifestProblem: Hashable, Codable, Sendable {
  public enum Severity: String, Codable, Sendable {
    /// Nothing can be made of the manifest until it is mended.
    case error
    case warning
  }

  public let severity: Severity

  /// From 1 on.
  public let line: Int

  /// From 1 on, in characters: Unicode scalar values.
  public let column: Int

  /// What is wrong.
  public let message: String

  /// What to do about it, where there is something to say.
  public let remedy: String?

  /// What may have been meant, the most likely first.
  public let suggestions: [String]
}

extension ManifestProblem: CustomStringConvertible {
  /// `3:14: error: there is no platform 'iPadOS'; did you mean 'iOS'?`
  public var description: String {
    "\(line):\(column): \(severity.rawValue): \(message)" + (remedy.map { "; \($0)" } ?? "")
  }
}

/// Gathers problems, and shows them in the order of the text.
struct ManifestProblems {
  /// More of them help no person. How many there are beyond is said.
  static let limit = 1_000

  private var problems: [(offset: Int, problem: ManifestProblem)] = []
  private var omittedCount = 0
  private(set) var hasErrors = false

  mutating func error(
    _ position: TextPosition, _ message: String, remedy: String? = nil, suggestions: [String] = []
  ) {
    hasErrors = true
    add(.error, position, message, remedy, suggestions)
  }

  mutating func warn(
    _ position: TextPosition, _ message: String, remedy: String? = nil, suggestions: [String] = []
  ) {
    add(.warning, position, message, remedy, suggestions)
  }

  private mutating func add(
    _ severity: ManifestProblem.Severity, _ position: TextPosition, _ message: String, _ remedy: String?,
    _ suggestions: [String]
  ) {
    guard problems.count < Self.limit else { return omittedCount += 1 }
    let meant = suggestions.isEmpty ? nil : "did you mean \(alternatives(suggestions))?"
    let problem = ManifestProblem(
      severity: severity, line: position.line, column: position.column, message: message, remedy: remedy ?? meant,
      suggestions: suggestions)
    problems.append((position.offset, problem))
  }

  /// In the order of the text; of one place, as they were found.
  var sorted: [ManifestProblem] {
    let order = problems.indices.sorted { (problems[$0].offset, $0) < (problems[$1].offset, $1) }
    let last = problems.map(\.problem).max { ($0.line, $0.column) < ($1.line, $1.column) }
    guard omittedCount > 0, let last else { return order.map { problems[$0].problem } }
    let rest = ManifestProblem(
      severity: hasErrors ? .error : .warning, line: last.line, column: last.column,
      message: "there are \(omittedCount) more problems", remedy: "mend those that are listed first", suggestions: [])
    return order.map { problems[$0].problem } + [rest]
  }
}
