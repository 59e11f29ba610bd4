import Synchronization

/// Plays an event against a group's agent, its apps and their extensions: what the agent would do, over a network and with a disk
/// as they are said to be, and by a clock that runs as fast as it can.
///
/// What is played is the agent itself, with its store, journal and pulls, in a copy of the group's folder unless it is asked to work
/// in place. Three things are put in the place of the world's, all of them by the caller in this process, so that no message to an
/// agent reaches them:
///
/// | what | where it is put |
/// |---|---|
/// | network | below everything that tries again: ``ShapedNetwork`` |
/// | disk | in what the rules of downloads ask about free space |
/// | time | in delays, limits and rates of transfers and downloads, and in the day by which an extension's time is counted |
///
/// Trust, floors, the expiry of roots and grace periods go by the world's clock: nothing that is written has another time.
package struct Play: Sendable {
  package struct Options: Sendable {
    package var network = NetworkShape()
    /// How many bytes the disk has left when the play begins; nil: as many as there are.
    package var freeByteCount: Int?
    /// Each extension ends once it was asked.
    package var crashesExtension = false
    /// How far the play's clock is ahead when it begins. Not in place.
    package var timeOffset = Duration.zero
    /// Extensions have all of their time again.
    package var resetsBudget = false
    /// An app that the group of the play knows, whether or not the group itself does.
    package var configuration: ManagedConfiguration?
    /// Plays in the group itself.
    package var isInPlace = false
    package var seed: UInt64 = 1
    package var limits = ExtensionLimits()
    package var environment = ProcessInfo.processInfo.environment
    /// Seconds since 1970, of the world.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    package var onFirstContact: @Sendable (String, SitePublicKey) -> Void = { _, _ in }

    package init() {}
  }

  private let group: GroupFolder
  private let options: Options
  private let tell: @Sendable (PlayNote) -> Void

  /// - Parameter tell: called on any thread, in the order in which things happen.
  package init(in group: GroupFolder, options: Options, tell: @escaping @Sendable (PlayNote) -> Void) {
    self.group = group
    self.options = options
    self.tell = tell
  }

  /// Plays an event, and returns when the agent has nothing to do any more.
  ///
  /// - Parameter app: that it happens to; nil: all apps of the group.
  /// - Throws: what keeps the group from being copied or read; `CancellationError`. What fails in the play is told.
  package func run(_ event: BAContentRequest, app: String?) async throws -> PlaySummary {
    let copy = try options.isInPlace ? nil : GroupCopy.make(of: group)
    defer { withExtendedLifetime(copy) {} }
    let folder = copy?.folder ?? group
    let clock = SimulatedClock(seed: options.seed)
    let course = PlayCourse(clock: clock, tell: tell)
    try register(in: folder)
    if options.resetsBudget { try resetBudgets(folder) }
    let agent = GroupAgent(of: folder, options: try agentOptions(folder, course))
    do {
      _ = try await agent.handle(event, app: app)
    } catch let error where !(error is CancellationError) {
      course.tell(PlayNote(.notHandled, "the event was not handled: \(error)"))
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

  /// What was asked for and is not here.
  private func heldBack(_ folder: GroupFolder) throws -> Set<String> {
    let active = OverrideFile(in: folder).state(at: options.wallClock()).active
    return Set(try JournalFile(in: folder.under(active)).read().requests.keys.map(\.name))
  }

  private func agentOptions(_ folder: GroupFolder, _ course: PlayCourse) throws -> GroupAgent.Options {
    var agent = GroupAgent.Options()
    agent.original = group
    agent.limits = options.limits
    agent.limits.crashes = options.crashesExtension
    agent.tell = { course.note($0) }
    let clock = course.clock, world = options.wallClock, offset = options.timeOffset / .seconds(1)
    agent.wallClock = world
    // Budgets are counted by days in the journal: in place, by the world's.
    if !options.isInPlace { agent.wallClock = { world() + offset + clock.now / .seconds(1) } }
    agent.manager.clock = clock.transferClock
    // Whether an override counts is for the world's clock.
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
    // A copy of a store is another device, and would be among another share of all of them.
    let active = OverrideFile(in: group).state(at: world()).active
    let store = try group.under(active, makes: false).store
    if !options.isInPlace, pathExists(store) {
      agent.manager.pullOptions.device = try DeviceFile(inStore: store).read()
    }
    return agent
  }
}

/// What the files below a folder take, in bytes of their lengths. What is gone meanwhile takes nothing.
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
