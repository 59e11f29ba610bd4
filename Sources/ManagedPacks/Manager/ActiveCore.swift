import Synchronization

/// Chooses the core of a manager: with the group's real store and sites, or with an override's.
///
/// ```
///  real <--the override has ended-- --one has begun--> overridden --another one--> overridden
/// ```
/// The override is looked up before each contact with a site, never by calls that only read. A change ends the downloads of the
/// core used before with a temporary error; their requests stay in the journal of that core.
final class ActiveCore: Sendable {
  private struct State {
    var override: URLOverride?
    var core: ManagedCore
    /// The last reported reason for not applying an override.
    var refusal: ManagedPacksError?
  }

  private let configuration: ManagedConfiguration
  private let options: AssetPackManager.Options
  private let hub: StatusHub
  /// The group's folder, without an override.
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

  /// The core as of the last call of ``question()``.
  var core: ManagedCore { state.withLock { $0.core } }

  /// Returns the core to contact a site with, after checking whether an override has begun or ended.
  ///
  /// - Throws: the error of creating the new core; the previous core stays in use.
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
    .override, "the group's URL override changed", remedy: "request the pack again")

  private static func state(_ folder: GroupFolder, _ options: AssetPackManager.Options) -> OverrideFile.State {
    switch options.override {
    case .fixed(let override): override.map { .active($0) } ?? .none
    case .ofTheGroup: OverrideFile(in: folder).state(at: options.wallClock())
    }
  }

  /// Reports a change of the override, once.
  private func tell(_ found: OverrideFile.State, before: URLOverride?, _ state: inout State) {
    // An agent reports it itself.
    guard case .ofTheGroup = options.override else { return }
    let group = configuration.appGroupID
    switch found {
    case .active(let override) where before != override:
      options.onOverride("packs of the group '\(group)' come from \(override.summary), set by 'packstore url-override'")
    case .refused(let error) where state.refusal != error:
      options.onOverride("\(error)")
    case .none, .ended, .refused, .active:
      if before != nil, found.active == nil {
        options.onOverride("packs of the group '\(group)' come from the sites of its apps again")
      }
    }
    if case .refused(let error) = found { state.refusal = error } else { state.refusal = nil }
  }
}
