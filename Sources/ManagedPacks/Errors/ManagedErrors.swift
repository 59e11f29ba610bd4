/// A pack or file that does not exist. The codes equal Apple's `BAManagedErrorCode`.
public enum ManagedBackgroundAssetsError: Error, Hashable, Sendable {
  /// No site of the app offers the pack, and it is not on this machine.
  case assetPackNotFound(withID: String)

  /// No pack on this machine contains the file.
  case fileNotFound(at: FilePath)
}

/// The codes of errors in ``BAManagedErrorDomain``.
public enum BAManagedErrorCode: Int, CaseIterable, Sendable {
  /// ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  case assetPackNotFound = 0
  /// ``ManagedBackgroundAssetsError/fileNotFound(at:)``.
  case fileNotFound = 1
  /// ``AssetPackManager/LocalAvailabilityError``.
  case localAvailabilityFailure = 2
}

/// The `NSError` domain of the errors of managed packs.
public let BAManagedErrorDomain = "BAManagedErrorDomain"

/// The user info key for the id of the pack.
public let BAAssetPackIdentifierErrorKey = "BAAssetPackIdentifierErrorKey"

/// The user info key for the packs that are available.
public let BASuccessesErrorKey = "BASuccessesErrorKey"

/// The user info key for the failures, by pack.
public let BAFailuresErrorKey = "BAFailuresErrorKey"

extension ManagedBackgroundAssetsError: CustomNSError {
  public static var errorDomain: String { BAManagedErrorDomain }

  public var errorCode: Int {
    switch self {
    case .assetPackNotFound: BAManagedErrorCode.assetPackNotFound.rawValue
    case .fileNotFound: BAManagedErrorCode.fileNotFound.rawValue
    }
  }

  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    switch self {
    case .assetPackNotFound(let id): info[BAAssetPackIdentifierErrorKey] = id
    case .fileNotFound(let path): info[NSFilePathErrorKey] = path.string
    }
    return info
  }
}

extension ManagedBackgroundAssetsError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .assetPackNotFound(let id):
      "no asset pack '\(id)' exists; AssetPackManager.manifest lists the asset packs"
    case .fileNotFound(let path): "no installed asset pack contains the file '\(path)'; download its pack first"
    }
  }

  public var errorDescription: String? { description }
}
