extension AssetPackManager {
  /// Some of the requested packs are not available.
  public struct LocalAvailabilityError: Error, Sendable {
    /// The packs that are available.
    public let successes: Set<AssetPack>

    /// The errors of the other packs.
    public let failures: [AssetPack: any Error]
  }
}

extension AssetPackManager.LocalAvailabilityError: CustomNSError {
  public static var errorDomain: String { BAManagedErrorDomain }
  public var errorCode: Int { BAManagedErrorCode.localAvailabilityFailure.rawValue }
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, BASuccessesErrorKey: successes, BAFailuresErrorKey: failures]
  }
}

extension AssetPackManager.LocalAvailabilityError: CustomStringConvertible, LocalizedError {
  public var description: String {
    let reasons = failures.sorted { $0.key.id < $1.key.id }.map { "\($0.key.id): \($0.value)" }
    return "\(failures.count) of \(failures.count + successes.count) asset packs are not available: "
      + reasons.joined(separator: "; ")
  }

  public var errorDescription: String? { description }
}
