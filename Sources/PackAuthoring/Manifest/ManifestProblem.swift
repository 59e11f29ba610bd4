import PackStore

/// A fault in a manifest, or in the files that it selects.
public struct ManifestProblem: Hashable, Codable, Sendable {
  public enum Severity: String, Codable, Sendable {
    /// The manifest cannot be used until this is corrected.
    case error
    case warning
  }

  public let severity: Severity

  /// The line, from 1.
  public let line: Int

  /// The column, from 1, in Unicode scalar values.
  public let column: Int

  /// The fault.
  public let message: String

  /// The remedy, if any.
  public let remedy: String?

  /// Similar valid values, the most likely first.
  public let suggestions: [String]
}

extension ManifestProblem: CustomStringConvertible {
  /// `3:14: error: there is no platform 'iPadOS'; did you mean 'iOS'?`
  public var description: String {
    "\(line):\(column): \(severity.rawValue): \(message)" + (remedy.map { "; \($0)" } ?? "")
  }
}

/// Collects problems, and sorts them by their position in the text.
struct ManifestProblems {
  /// The maximum number of listed problems; the number of others is reported.
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

  /// The problems by position; at one position, in the order in which they were found.
  var sorted: [ManifestProblem] {
    let order = problems.indices.sorted { (problems[$0].offset, $0) < (problems[$1].offset, $1) }
    let last = problems.map(\.problem).max { ($0.line, $0.column) < ($1.line, $1.column) }
    guard omittedCount > 0, let last else { return order.map { problems[$0].problem } }
    let rest = ManifestProblem(
      severity: hasErrors ? .error : .warning, line: last.line, column: last.column,
      message: "\(omittedCount) more problems are not listed", remedy: "correct the listed problems first",
      suggestions: [])
    return order.map { problems[$0].problem } + [rest]
  }
}
