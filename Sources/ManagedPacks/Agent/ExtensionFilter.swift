/// Asks an app's extension which packs to download, within time and memory limits. If the extension fails, all packs that the event
/// requires are downloaded.
struct ExtensionFilter: Sendable {
  let app: String
  let program: FilePath
  let journal: JournalFile
  let limits: ExtensionLimits
  let environment: [String: String]
  /// Returns the time in seconds since 1970.
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
    // The refund follows even after an error, and leaves the used time charged.
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
