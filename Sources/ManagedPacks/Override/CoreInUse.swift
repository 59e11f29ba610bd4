import Synchronization

/// What a manager works with at the moment: the group's real store and sites, or those of an override.
///
/// ```
///  real <--the override has ended-- --one has begun--> overridden --another one--> overridden
/// ```
/// Whether an override counts is looked up when a site is asked, and never by calls that only read. Downloads of the state before
/// end then, as ones that may be tried again, and stay in the journal that they stood in.
final class CoreInUse: Sendable {
  private struct State {
    var override: URLOverride?
    var core: ManagedCore
    /// What was told of an override that does not count.
    var refusal: ManagedPacksError?
  }

  private let configuration: ManagedConfiguration
  private let options: AssetPackManager.Options
  private let hub: StatusHub
  /// The group's folder, as it was named.
  private let folder: GroupFolder
  private let state: Mutex<State>

  init(_ configuration: ManagedConfiguration, _ options: AssetPackManager.Options, hub: StatusHub) throws {
    self.configuration = configuration
    self.options = options
    self.hub = hub
    folder = try GroupFolder(of: configuration, environment: options.environment)
    let found = Self.state(folder, options)
    let core = try ManagedCore(configuration, options, hub: hub, override: found.active)
    state = Mutex(State(override: found.active, core: core))
    state.withLock { tell(found, before: nil, &$0) }
  }

  /// As of the last question.
  var core: ManagedCore { state.withLock { $0.core } }

  /// Looks whether an override has begun or ended, before a site is asked.
  ///
  /// - Throws: what setting up for it throws; what was in use stays so.
  func question() throws -> ManagedCore {
    let found = Self.state(folder, options)
    return try state.withLock { state in
      guard found.active != state.override else {
        tell(found, before: state.override, &state)
        return state.core
      }
      let core = try ManagedCore(configuration, options, hub: hub, override: found.active)
      let before = state
      state.core = core
      state.override = found.active
      tell(found, before: before.override, &state)
      Task {
        for id in before.core.scheduler.openDownloads.keys { await before.core.scheduler.stop(id, Self.changed) }
      }
      return core
    }
  }

  private static let changed = ManagedPacksError(
    .override, "another base for the group has begun or ended", remedy: "ask for the pack again")

  private static func state(_ folder: GroupFolder, _ options: AssetPackManager.Options) -> OverrideFile.State {
    switch options.override {
    case .fixed(let override): override.map { .active($0) } ?? .none
    case .ofTheGroup: OverrideFile(in: folder).state(at: options.wallClock())
    }
  }

  /// Tells people what counts, once.
  private func tell(_ found: OverrideFile.State, before: URLOverride?, _ state: inout State) {
    // An agent tells by itself.
    guard case .ofTheGroup = options.override else { return }
    let group = configuration.appGroupID
    switch found {
    case .active(let override) where before != override:
      options.onOverride("the group '\(group)' takes its packs from \(override.summary), by 'packstore url-override'")
    case .refused(let error) where state.refusal != error:
      options.onOverride("\(error)")
    case .none, .ended, .refused, .active:
      if before != nil, found.active == nil {
        options.onOverride("the group '\(group)' takes its packs from its own sites again")
      }
    }
    if case .refused(let error) = found { state.refusal = error } else { state.refusal = nil }
  }
}
