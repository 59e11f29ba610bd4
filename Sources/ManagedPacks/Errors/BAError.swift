/// An error of an app's own download. The codes equal Apple's `BAErrorCode`.
public struct BAError: Error, Sendable {
  public let code: Code

  /// The fault and its remedy, in English.
  public let reason: String

  /// The cause; `nil` if the rule in ``code`` is the cause.
  public let underlyingError: (any Error)?

  public init(_ code: Code) { self.init(code, code.reason) }

  init(_ code: Code, _ reason: String, underlyingError: (any Error)? = nil) {
    self.code = code
    self.reason = reason
    self.underlyingError = underlyingError
  }

  public enum Code: Int, CaseIterable, Codable, Sendable {
    /// The download is invalid, or the downloaded file does not match it.
    case downloadInvalid = 0
    /// Only apps may make the call.
    case callFromExtensionNotAllowed = 50
    /// Only active apps may make the call.
    case callFromInactiveProcessNotAllowed = 51
    /// The process cannot use downloads: its property list or its group's folder is unusable.
    case callerConnectionNotAccepted = 55
    /// The group's folder has become unusable.
    case callerConnectionInvalid = 56
    /// The app has an open download with the same name.
    case downloadAlreadyScheduled = 100
    /// The download was never scheduled.
    case downloadNotScheduled = 101
    /// The download cannot start: the disk has too little space for it.
    case downloadFailedToStart = 102
    /// The download has failed: create another one.
    case downloadAlreadyFailed = 103
    /// Essential downloads are permitted only during an installation or an update of the app.
    case downloadEssentialDownloadNotPermitted = 109
    /// The user does not permit work in the background.
    case downloadBackgroundActivityProhibited = 111
    /// The size that the download states exceeds the remaining allowance.
    case downloadWouldExceedAllowance = 112
    /// The download has ended.
    case downloadDoesNotExist = 113
    /// The app may not contact the server before its first launch.
    case sessionDownloadDisallowedByDomain = 202
    /// The size that the server states exceeds the remaining allowance.
    case sessionDownloadDisallowedByAllowance = 203
    /// The server sent more bytes than the remaining allowance.
    case sessionDownloadAllowanceExceeded = 204
    /// The user does not permit downloads before the first launch.
    case sessionDownloadNotPermittedBeforeAppLaunch = 206
  }
}

/// The name in Objective-C.
public typealias BAErrorCode = BAError.Code

/// The `NSError` domain of ``BAError``.
public let BAErrorDomain = "BAErrorDomain"

extension BAError: CustomNSError {
  public static var errorDomain: String { BAErrorDomain }
  public var errorCode: Int { code.rawValue }

  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: reason]
    if let underlyingError { info[NSUnderlyingErrorKey] = underlyingError }
    return info
  }
}

extension BAError: CustomStringConvertible, LocalizedError {
  public var description: String { reason }
  public var errorDescription: String? { reason }
}

extension BAError.Code {
  fileprivate var reason: String {
    switch self {
    case .downloadInvalid: "the download is invalid; check its identifier, URL, size and group"
    case .callFromExtensionNotAllowed: "extensions cannot call this method; call it in the app"
    case .callFromInactiveProcessNotAllowed: "the app is not in the foreground; schedule the download instead"
    case .callerConnectionNotAccepted: "this process cannot use downloads; check its property list and group folder"
    case .callerConnectionInvalid: "the group's folder is no longer usable; try again"
    case .downloadAlreadyScheduled: "the app has an open download with this name; see currentDownloads"
    case .downloadNotScheduled: "the download was never scheduled; schedule it first"
    case .downloadFailedToStart: "too little disk space for the download; free some"
    case .downloadAlreadyFailed: "the download has failed; create a new one"
    case .downloadEssentialDownloadNotPermitted:
      "only installations and updates can have essential downloads; use removingEssential()"
    case .downloadBackgroundActivityProhibited:
      "the user disallows background activity; start the download in the foreground"
    case .downloadWouldExceedAllowance:
      "the download exceeds the remaining allowance; raise it in the property list, or wait for the first launch"
    case .downloadDoesNotExist: "the download has ended; schedule a new one"
    case .sessionDownloadDisallowedByDomain:
      "the server is not in BADownloadDomainAllowList; add it, or wait for the first launch"
    case .sessionDownloadDisallowedByAllowance:
      "the file exceeds the remaining allowance; raise it in the property list, or wait for the first launch"
    case .sessionDownloadAllowanceExceeded:
      "the received bytes exceed the remaining allowance; raise it in the property list, or wait for the first launch"
    case .sessionDownloadNotPermittedBeforeAppLaunch:
      "the user disallows downloads before the first launch; launch the app"
    }
  }
}
