/// An error of a manager that is neither a missing pack nor an error of a site or store; usually a configuration error.
public struct ManagedPacksError: Error, Hashable, Sendable {
  public var code: Code

  /// The fault, in a few English words.
  public var reason: String

  /// The action that corrects it.
  public var remedy: String

  package init(_ code: Code, _ reason: String, remedy: String) {
    self.code = code
    self.reason = reason
    self.remedy = remedy
  }

  public enum Code: String, CaseIterable, Sendable {
    /// No property list was found, or it cannot be read.
    case noConfiguration
    /// A key of the property list is missing or has an invalid value.
    case invalidConfiguration
    /// The group's folder cannot be used.
    case groupFolder
    /// The group's agent cannot work, or cannot use an app or extension.
    case agent
    /// No offered version of the pack suits all apps of the group.
    case appsDisagree
    /// A later version of this library wrote the group's journal.
    case newerJournal
    /// A path leads out of the namespace, or is the root of the namespace.
    case invalidPath
    /// The pack is offered, but not to this version of the app, platform or device.
    case notOffered
    /// The site's root is older than one already seen.
    case staleSite
    /// The disk has too little free space.
    case lowSpace
    /// An override of the group's base began or ended during the call, or is invalid.
    case override
  }
}

extension ManagedPacksError: CustomStringConvertible, LocalizedError {
  public var description: String { "\(reason); \(remedy)" }
  public var errorDescription: String? { description }
  public var failureReason: String? { reason }
  public var recoverySuggestion: String? { remedy }
}
