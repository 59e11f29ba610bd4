import ManagedPacks
import Synchronization

/// Prints an agent's events. Each line is written immediately, because users read the log while the agent runs.
final class AgentLog: Sendable {
  private let report: ReportOptions
  private let output = Output()
  /// The first error of standard output; later lines are not printed.
  private let error: Mutex<(any Error)?> = Mutex(nil)

  init(_ report: ReportOptions) { self.report = report }

  var tell: @Sendable (AgentNotice) -> Void { { self.print($0) } }

  private func print(_ notice: AgentNotice) {
    if [.problem, .sharedKey].contains(notice.kind) {
      let code = notice.kind == .sharedKey ? WarningCode.sharedKey : .agentProblem
      return warn(code, escaped(notice.app.map { "\($0): \(notice.text)" } ?? notice.text))
    }
    guard !report.quiet else { return }
    error.withLock { error in
      guard error == nil else { return }
      do {
        if report.json {
          try output.json(NoticeLine(notice))
        } else {
          try output.line(escaped(notice.app.map { "\($0): \(notice.text)" } ?? notice.text))
        }
        try output.flush()
      } catch let failure {
        error = failure
      }
    }
  }

  /// - Throws: the error that prevented a line from being written.
  func check() throws {
    if let error = error.withLock({ $0 }) { throw error }
  }
}

private struct NoticeLine: Encodable {
  let event: String
  let app, pack: String?
  let version: Int?
  let message: String

  init(_ notice: AgentNotice) {
    event = notice.kind.rawValue
    app = notice.app
    pack = notice.pack
    version = notice.version
    message = notice.text
  }
}
