/// Asks the extension of an app which packs to fetch, within what it may take. Whatever is wrong with it, there is an answer: without
/// it all packs are fetched that the event calls for.
struct ExtensionFilter: Sendable {
  let app: String
  let program: FilePath
  let journal: JournalFile
  let limits: ExtensionLimits
  let environment: [String: String]
  /// Seconds since 1970.
  let wallClock: @Sendable () -> Double
  let tell: @Sendable (AgentNotice) -> Void

  func wanted(_ event: BAContentRequest, _ packs: [AssetPack]) async -> Set<String> {
    do {
      let wanted = try await ask(event, packs)
      let refused = packs.count - wanted.count
      tell(AgentNotice(.extension, app: app, "the extension wants \(wanted.count) packs, and \(refused) not"))
      return wanted
    } catch {
      tell(AgentNotice(.extension, app: app, "the extension was not heard, and all packs are fetched: \(error)"))
      return Set(packs.map(\.id))
    }
  }

  private func ask(_ event: BAContentRequest, _ packs: [AssetPack]) async throws -> Set<String> {
    let program = try OwnedFile(program, isProgram: true).path
    let clock = ContinuousClock(), begin = clock.now
    let time = try charge()
    // The journal must not have it free, and must not have it for nothing.
    defer { try? refund(time - min(clock.now - begin, time)) }
    guard time > .zero else { throw ExtensionFailure.tookTooLong }
    return try await BlockingExecutor.run {
      var run = try ExtensionRun(program, event, environment: environment, limits: limits, time: time)
      return try run.wanted(of: packs)
    }
  }

  // MARK: - Time

  private static let dayInMilliseconds = 86_400_000

  private var today: Int { Int(exactly: (wallClock() / 86_400).rounded(.down)) ?? 0 }

  /// Takes what a run may last from what is left today, and says how much it is.
  private func charge() throws -> Duration {
    try journal.update { journal in
      let noted = journal.extensionTimes[app].flatMap { $0.day == today ? $0.milliseconds : nil } ?? 0
      let used = min(max(noted, 0), Self.dayInMilliseconds)
      let left = limits.dailyTime - .milliseconds(used)
      let time = max(min(left, limits.longestRun), .zero)
      journal.extensionTimes[app] = Journal.ExtensionTime(day: today, milliseconds: used + milliseconds(time))
      return time
    }
  }

  private func refund(_ time: Duration) throws {
    try journal.update { journal in
      guard var spent = journal.extensionTimes[app], spent.day == today else { return }
      spent.milliseconds = max(min(spent.milliseconds, Self.dayInMilliseconds) - milliseconds(time), 0)
      journal.extensionTimes[app] = spent
    }
  }

  private func milliseconds(_ time: Duration) -> Int { Int(clamping: Int64((time / .milliseconds(1)).rounded(.down))) }
}
