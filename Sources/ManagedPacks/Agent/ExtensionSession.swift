/// Calls the entry points of an app's extension, within its limits, and reports downloads to it.
///
/// The program is started for the first call and ended when no event remains, so its memory does not persist. Calls are made one
/// after the other. Time counts from a call to its reply.
actor ExtensionSession: DownloadListener {
  struct Options: Sendable {
    let app: String
    /// `nil` if the app has no extension; it then receives events at its next launch.
    let program: FilePath?
    let folder: DownloadFolder
    let journal: JournalFile
    let limits: ExtensionLimits
    let environment: [String: String]
    let wallClock: @Sendable () -> Double
    /// Returns the current time, for the time limits.
    let now: @Sendable () -> ContinuousClock.Instant
    let tell: @Sendable (AgentNotice) -> Void
  }

  /// The reason why the extension is not called now.
  enum Refusal: Error, CustomStringConvertible {
    case noProgram, noTime

    var description: String {
      switch self {
      case .noProgram: "the app has no extension (PackStoreExtension)"
      case .noTime: "the extension has used its time for today"
      }
    }
  }

  private let options: Options
  private var run: ExtensionRun?
  private var last: Task<Void, Never>?
  /// Whether an essential download has begun, and the end of the last one was not reported yet.
  private var holdsLaunch = false

  init(_ options: Options) { self.options = options }

  // MARK: - Calls

  /// - Throws: ``Refusal``; ``ExtensionFailure``, after killing the program; ``ManagedPacksError`` `agent`.
  func call(_ request: DownloaderRequest) async throws -> DownloaderReply {
    let previous = last
    let task = Task {
      await previous?.value
      return try await self.perform(request)
    }
    last = Task { _ = try? await task.value }
    return try await task.value
  }

  private func perform(_ request: DownloaderRequest) async throws -> DownloaderReply {
    guard let program = options.program else { throw Refusal.noProgram }
    let path = try OwnedFile(program, isProgram: true).path
    let budget = try budget(), begin = options.now()
    let time = try budget.charge()
    // The refund follows even after an error, and leaves the used time charged.
    defer { try? budget.refund(time - min(options.now() - begin, time)) }
    guard time > .zero else { throw Refusal.noTime }
    do {
      let frame = try MessageFrames.frame(request.encode(), limit: DownloaderProtocol.byteCountLimit)
      let known = run, options = options
      let (message, run) = try await BlockingExecutor.run {
        var run =
          try known
          ?? ExtensionRun(
            path, [DownloaderProtocol.argument], environment: options.environment, limits: options.limits, time: time,
            messageLimit: DownloaderProtocol.byteCountLimit, now: options.now)
        run.end = options.now() + time
        do {
          return (try run.exchange(frame), run)
        } catch {
          run.child.kill()
          throw error
        }
      }
      self.run = run
      guard let reply = try? DownloaderReply(decoding: message) else { throw ExtensionFailure.nonsense }
      return reply
    } catch {
      run?.child.kill()
      run = nil
      throw error
    }
  }

  /// Returns the budget, which is smaller for a rarely used app: half after a week, a quarter after 30 days.
  private func budget() throws -> ExtensionBudget {
    var limits = options.limits
    let day = Int(exactly: (options.wallClock() / 86_400).rounded(.down)) ?? 0
    if let launchDay = try options.folder.list().launchDay {
      limits.dailyTime = limits.dailyTime * Self.share(daysUnused: day.subtractingClamped(launchDay))
    }
    return ExtensionBudget(app: options.app, journal: options.journal, limits: limits, wallClock: options.wallClock)
  }

  /// Returns the share of the daily time for an app that was last launched `daysUnused` days ago.
  static func share(daysUnused: Int) -> Double { daysUnused < 7 ? 1 : daysUnused < 30 ? 0.5 : 0.25 }

  /// Notifies the program and ends it.
  func close() async {
    guard run != nil else { return }
    _ = try? await call(.end)
    run?.child.kill()
    run = nil
  }

  // MARK: - Downloads

  func began(_ record: DownloadRecord) async {
    if record.isEssential { holdsLaunch = true }
    tell(.began, record, "started")
  }

  func paused(_ record: DownloadRecord) async { tell(.paused, record, "is paused") }

  nonisolated func wrote(_ record: DownloadRecord, byteCount: Int, total: Int, expected: Int?) {}

  func challenge(_ record: DownloadRecord, _ challenge: FileChallenge) async -> FileChallengeReply {
    guard case .challenge(let reply)? = try? await call(.challenge(record, challenge)) else { return .none }
    return reply
  }

  func ended(_ record: DownloadRecord, _ end: DownloadEnd) async -> Hearing {
    let request: DownloaderRequest
    switch end {
    case .finished(let path):
      tell(.finished, record, "finished")
      request = .finished(record, file: path.string)
    case .failed(let error):
      tell(.failed, record, "failed: \(error)", cause: error)
      request = .failed(record)
    }
    defer { noteLaunchable(after: record) }
    do {
      guard case .done = try await call(request) else { return .crashed }
      return .heard
    } catch {
      options.tell(
        AgentNotice(.extension, app: options.app, "the extension received no event for '\(record.name)': \(error)"))
      return error is ExtensionFailure ? .crashed : .unheard
    }
  }

  func fellSilent() async { await close() }

  /// Reports that the app can start: the ends of its essential downloads are reported together, and this was the last one.
  private func noteLaunchable(after record: DownloadRecord) {
    guard holdsLaunch, record.isEssential, let list = try? options.folder.list(),
      !list.downloads.contains(where: { $0.isEssential && $0.id != record.id })
    else { return }
    holdsLaunch = false
    options.tell(AgentNotice(.launchable, app: options.app, "the app can start: its essential downloads have ended"))
  }

  private func tell(
    _ kind: AgentNotice.Kind, _ record: DownloadRecord, _ what: String, cause: (any Error)? = nil
  ) {
    var notice = AgentNotice(kind, app: options.app, "the download '\(record.name)' \(what)")
    notice.download = record.name
    notice.cause = cause
    options.tell(notice)
  }
}
