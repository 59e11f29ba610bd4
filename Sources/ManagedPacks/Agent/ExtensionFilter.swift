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
  /// Returns the current time, for the time limits.
  let now: @Sendable () -> ContinuousClock.Instant
  let tell: @Sendable (AgentNotice) -> Void

  func wanted(_ event: BAContentRequest, _ packs: [AssetPack]) async -> FilterAnswer {
    do {
      let wanted = try await ask(event, packs)
      let refused = packs.count - wanted.count
      tell(AgentNotice(.extension, app: app, "the extension wants \(wanted.count) packs, and \(refused) not"))
      return FilterAnswer(wanted: wanted)
    } catch {
      tell(AgentNotice(.extension, app: app, "the extension was not heard, and all packs are fetched: \(error)"))
      return FilterAnswer(
        wanted: Set(packs.map(\.id)), hasCrashed: (error as? ExtensionFailure)?.isCrash ?? false)
    }
  }

  private func ask(_ event: BAContentRequest, _ packs: [AssetPack]) async throws -> Set<String> {
    let program = try OwnedFile(program, isProgram: true).path
    let begin = now()
    let budget = ExtensionBudget(app: app, journal: journal, limits: limits, wallClock: wallClock)
    let time = try budget.charge()
    // The journal must not have it free, and must not have it for nothing.
    defer { try? budget.refund(time - min(now() - begin, time)) }
    guard time > .zero else { throw ExtensionFailure.noTimeLeft }
    return try await BlockingExecutor.run {
      var run = try ExtensionRun(
        program, [FilterProtocol.argument, event.word], environment: environment, limits: limits, time: time,
        now: now)
      return try run.wanted(of: packs)
    }
  }
}
