/// What is not there. The codes are those of Apple's `BAManagedErrorCode`.
public enum ManagedBackgroundAssetsError: Error, Hashable, Sendable {
  /// No site of the app offers such a pack, and it is not on this machine.
  case assetPackNotFound(withID: String)

  /// No pack on this machine has such a file.
  case fileNotFound(at: FilePath)
}

/// The domain of the errors of managed packs, as `NSError` has it.
public let BAManagedErrorDomain = "BAManagedErrorDomain"

/// In the user info of an error: the id of the pack concerned.
public let BAAssetPackIdentifierErrorKey = "BAAssetPackIdentifierErrorKey"

/// In the user info of an error: the packs that are there.
public let BASuccessesErrorKey = "BASuccessesErrorKey"

/// In the user info of an error: what went wrong, by pack.
public let BAFailuresErrorKey = "BAFailuresErrorKey"

extension ManagedBackgroundAssetsError: CustomNSError {
  public static var errorDomain: String { BAManagedErrorDomain }

  public var errorCode: Int {
    switch self {
    case .assetPackNotFound: 0
    case .fileNotFound: 1
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
      "there is no asset pack '\(id)': see AssetPackManager.manifest for those that there are"
    case .fileNotFound(let path): "no asset pack on this machine has a file '\(path)': download its pack first"
    }
  }

  public var errorDescription: String? { description }
}

extension AssetPackManager {
  /// Some of the packs that were asked for are not there.
  public struct LocalAvailabilityError: Error, Sendable {
    /// The packs that are there.
    public let successes: Set<AssetPack>

    /// Why the others are not.
    public let failures: [AssetPack: any Error]
  }
}

extension AssetPackManager.LocalAvailabilityError: CustomNSError {
  public static var errorDomain: String { BAManagedErrorDomain }
  public var errorCode: Int { 2 }
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, BASuccessesErrorKey: successes, BAFailuresErrorKey: failures]
  }
}

extension AssetPackManager.LocalAvailabilityError: CustomStringConvertible, LocalizedError {
  public var description: String {
    let reasons = failures.sorted { $0.key.id < $1.key.id }.map { "\($0.key.id): \($0.value)" }
    return "\(failures.count) of \(failures.count + successes.count) asset packs are not there: "
      + reasons.joined(separator: "; ")
  }

  public var errorDescription: String? { description }
}
