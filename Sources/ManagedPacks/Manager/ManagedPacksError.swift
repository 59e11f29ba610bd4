/// What keeps a manager from doing its work that is neither a missing pack nor an error of a site or a store: most often how it
/// was set up.
public struct ManagedPacksError: Error, Hashable, Sendable {
  public var code: Code

  /// What is wrong, in a few English words.
  public var reason: String

  /// What to do about it.
  public var remedy: String

  package init(_ code: Code, _ reason: String, remedy: String) {
    self.code = code
    self.reason = reason
    self.remedy = remedy
  }

  public enum Code: String, CaseIterable, Sendable {
    /// No property list was found, or it cannot be read.
    case noConfiguration
    /// A key of the property list is missing, or has a value that makes no sense.
    case invalidConfiguration
    /// The group's folder cannot be used.
    case groupFolder
    /// The group's agent cannot do its work, or an app or extension cannot be used by it.
    case agent
    /// No version of the pack is for all apps of the group.
    case appsDisagree
    /// What the group's journal says was written by a later version of this library.
    case newerJournal
    /// A path leaves the namespace, or is that of the namespace itself.
    case invalidPath
    /// The pack is offered, but not to this version of the app, this platform or this device.
    case notOffered
    /// The site's state is older than what was seen before.
    case staleSite
    /// There is too little room on the disk.
    case lowSpace
    /// Another base for the group has begun or ended meanwhile, or the one that was set cannot be used.
    case override
  }
}

extension ManagedPacksError: CustomStringConvertible, LocalizedError {
  public var description: String { "\(reason): \(remedy)" }
  public var errorDescription: String? { description }
  public var failureReason: String? { reason }
  public var recoverySuggestion: String? { remedy }
}
