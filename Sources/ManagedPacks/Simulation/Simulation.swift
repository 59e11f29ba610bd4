import Synchronization

/// Simulates an event with a group's agent, its apps and their extensions, with a given network and disk, and with a clock that
/// advances as fast as possible.
///
/// The simulation runs the real agent, with its store, journal and pulls, in a copy of the group's folder or, on request, in the
/// folder itself. Three parts are replaced, by the caller in this process, so that no message to an agent can replace them:
///
/// | part | place of the replacement |
/// |---|---|
/// | network | below all retries: ``ShapedNetwork`` |
/// | disk | the free space that the rules of downloads query |
/// | time | delays, limits and rates of transfers and downloads, and the day for which an extension's time is counted |
///
/// Apps with downloads of their own are simulated in the same way: their extensions run as programs, which use the copy as their
/// group's folder.
///
/// Trust, version floors, the expiry of roots and grace periods use the system's clock: recorded times are real.
package struct Simulation: Sendable {
  package struct Options: Sendable {
    package var network = NetworkShape()
    /// The free disk space at the beginning, in bytes; `nil` for the real space.
    package var freeByteCount: Int?
    /// Whether every extension crashes when it is called.
    package var crashesExtension = false
    /// The time by which the simulated clock is ahead at the beginning. Has no effect in place.
    package var timeOffset = Duration.zero
    /// Whether extensions have their full daily time again.
    package var resetsBudget = false
    /// An app to add to the simulated group.
    package var configuration: ManagedConfiguration?
    /// Whether to simulate in the group's own folder.
    package var isInPlace = false
    package var seed: UInt64 = 1
    package var limits = ExtensionLimits()
    package var environment = ProcessInfo.processInfo.environment
    /// Returns the real time in seconds since 1970.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    package var onFirstContact: @Sendable (String, SitePublicKey) -> Void = { _, _ in }

    package init() {}
  }

  private let group: GroupFolder
  private let options: Options
  private let tell: @Sendable (SimulationNote) -> Void

  /// - Parameter tell: called on any thread, in the order of the events.
  package init(in group: GroupFolder, options: Options, tell: @escaping @Sendable (SimulationNote) -> Void) {
    self.group = group
    self.options = options
    self.tell = tell
  }

  /// Simulates an event, and returns when the agent has no work left.
  ///
  /// - Parameter app: the app that the event concerns; `nil` for all apps of the group.
  /// - Throws: the error of copying or reading the group; `CancellationError`. Failures within the simulation are reported as
  ///   notes.
  package func run(_ event: BAContentRequest, app: String?) async throws -> SimulationSummary {
    let copy = try options.isInPlace ? nil : GroupCopy.make(of: group)
    defer { withExtendedLifetime(copy) {} }
    let folder = copy?.folder ?? group
    let clock = SimulatedClock(seed: options.seed)
    let course = SimulationCourse(clock: clock) { [tell, group] note in
      tell(note.naming(group.path.string, insteadOf: folder.path.string))
    }
    try register(in: folder)
    if options.resetsBudget { try resetBudgets(folder) }
    let agent = GroupAgent(of: folder, options: try agentOptions(folder, course))
    do {
      _ = try await agent.handle(event, app: app)
      course.noteHandled(event)
    } catch let error where !(error is CancellationError) {
      course.tell(SimulationNote(.notHandled, "the event was not handled: \(error)"))
    }
    let summary = try await agent.finishRequests()
    return course.summary(summary, held: try heldBack(folder), isMetered: options.network.isMetered)
  }

  private func register(in folder: GroupFolder) throws {
    guard let configuration = options.configuration else { return }
    let active = OverrideFile(in: folder).state(at: options.wallClock()).active
    for group in [folder, try folder.under(active)] { try JournalFile(in: group).register(configuration) }
  }

  private func resetBudgets(_ folder: GroupFolder) throws {
    let active = OverrideFile(in: folder).state(at: options.wallClock()).active
    try JournalFile(in: folder.under(active)).update { $0.extensionTimes = [:] }
  }

  /// Returns the requested packs, and the downloads of apps' own, that were not downloaded.
  private func heldBack(_ folder: GroupFolder) throws -> Set<String> {
    let active = OverrideFile(in: folder).state(at: options.wallClock()).active
    let packs = try JournalFile(in: folder.under(active)).read().requests.keys.map(\.name)
    guard isFolder(folder.path.appending(DownloadFolder.name)) else { return Set(packs) }
    let downloads = try DownloadFolder.all(in: folder.path).flatMap { try $0.list().downloads }
    return Set(packs + downloads.filter { $0.phase == .waiting && $0.kind == .file }.map(\.name))
  }

  private func agentOptions(_ folder: GroupFolder, _ course: SimulationCourse) throws -> GroupAgent.Options {
    var agent = GroupAgent.Options()
    agent.original = group
    agent.limits = options.limits
    agent.limits.crashes = options.crashesExtension
    agent.tell = { course.note($0) }
    let clock = course.clock, world = options.wallClock, offset = options.timeOffset / .seconds(1)
    agent.wallClock = world
    // Time budgets are counted by day in the journal: in place, by the real day.
    if !options.isInPlace { agent.wallClock = { world() + offset + clock.now / .seconds(1) } }
    agent.manager.clock = clock.transferClock
    // The real clock determines whether an override is active.
    agent.overrideClock = world
    agent.manager.environment = options.environment
    agent.manager.onFirstContact = options.onFirstContact
    agent.manager.explain = { event, decisions in course.explain(event, decisions) }
    let isMetered = options.network.isMetered
    agent.manager.rules.isMetered = { isMetered }
    if let free = options.freeByteCount {
      let before = treeByteCount(folder.path)
      agent.manager.rules.freeByteCount = { _ in
        max(free.subtractingClamped(treeByteCount(folder.path).subtractingClamped(before)), 0)
      }
    }
    agent.manager.pullOptions.network = ShapedNetwork(options.network, seed: options.seed, clock: clock) {
      course.note($0)
    }
    agent.transport = fileTransport(agent.manager.pullOptions)
    // A copy of a store would otherwise count as another device, with another position in partial rollouts.
    let active = OverrideFile(in: group).state(at: world()).active
    let store = try group.under(active, makes: false).store
    if !options.isInPlace, pathExists(store) {
      agent.manager.pullOptions.device = try DeviceFile(inStore: store).read()
    }
    return agent
  }
}

/// Returns the total length of the files below a folder. Files deleted during the walk do not count.
private func treeByteCount(_ folder: FilePath) -> Int {
  func count(_ name: String) -> Int {
    var total = 0
    for item in (try? itemsInFolder(name, of: folder)) ?? [] {
      guard let own = String(validating: item.name, as: UTF8.self) else { continue }
      switch item.kind {
      case .file(let byteCount, _): total = total.addingClamped(Int(clamping: byteCount))
      case .folder: total = total.addingClamped(count(name.isEmpty ? own : "\(name)/\(own)"))
      case .link, .other: continue
      }
    }
    return total
  }
  return count("")
}
