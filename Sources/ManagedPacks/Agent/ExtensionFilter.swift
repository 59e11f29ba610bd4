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
      tell(AgentNotice(.extension, app: app, "the extension accepts \(wanted.count) packs and refuses \(refused)"))
      return FilterAnswer(wanted: wanted)
    } catch {
      tell(AgentNotice(.extension, app: app, "the extension did not answer, so all packs are downloaded: \(error)"))
      return FilterAnswer(
        wanted: Set(packs.map(\.id)), hasCrashed: (error as? ExtensionFailure)?.isCrash ?? false)
    }
  }

  /// Asks the extension for a name and a password for a site's server. If the extension fails, the server's refusal counts.
  func reply(to challenge: FileChallenge) async -> FileChallengeReply {
    let request = DownloaderRequest.challenge(DownloadRecord(ofSite: challenge), challenge)
    do {
      let message = try await running([DownloaderProtocol.argument]) { run in
        defer { run.child.kill() }
        return try run.exchange(try MessageFrames.frame(request.encode(), limit: DownloaderProtocol.byteCountLimit))
      }
      guard case .challenge(let reply)? = try? DownloaderReply(decoding: message) else {
        throw ExtensionFailure.nonsense
      }
      return reply
    } catch {
      tell(AgentNotice(.extension, app: app, "the extension did not answer the server '\(challenge.host)': \(error)"))
      return .none
    }
  }

  private func ask(_ event: BAContentRequest, _ packs: [AssetPack]) async throws -> Set<String> {
    try await running([FilterProtocol.argument, event.word]) { run in try run.wanted(of: packs) }
  }

  /// Starts the program within the app's budget, and returns the result of `body`.
  private func running<Result: Sendable>(
    _ arguments: [String], _ body: @escaping @Sendable (inout ExtensionRun) throws -> Result
  ) async throws -> Result {
    let program = try OwnedFile(program, isProgram: true).path
    let begin = now()
    let budget = ExtensionBudget(app: app, journal: journal, limits: limits, wallClock: wallClock)
    let time = try budget.charge()
    // The refund follows even after an error, and leaves the used time charged.
    defer { try? budget.refund(time - min(now() - begin, time)) }
    guard time > .zero else { throw ExtensionFailure.noTimeLeft }
    return try await BlockingExecutor.run {
      var run = try ExtensionRun(
        program, arguments, environment: environment, limits: limits, time: time, now: now)
      return try body(&run)
    }
  }
}
