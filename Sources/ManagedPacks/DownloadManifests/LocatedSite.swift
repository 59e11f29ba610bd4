import Synchronization

/// The site at a location whose content determines its kind: signed roots, or a download manifest.
///
/// The likely kind is tried first, by the form of the location, and the other kind if that one does not exist there. The process
/// remembers the result.
final class LocatedSite: PackSite {
  private enum Kind { case signed, manifest }

  private let signed: any PackSite
  private let manifest: any PackSite
  private let known = Mutex<Kind?>(nil)

  init(signed: any PackSite, manifest: any PackSite) {
    self.signed = signed
    self.manifest = manifest
  }

  var location: String { signed.location }

  func listing() async throws -> SiteListing { try await perform { try await $0.listing() } }

  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack {
    try await perform { try await $0.pull(pack, pause: pause, progress: progress) }
  }

  private func site(_ kind: Kind) -> any PackSite { kind == .signed ? signed : manifest }

  private func perform<Result>(_ body: (any PackSite) async throws -> Result) async throws -> Result {
    let first = known.withLock { $0 } ?? likelyKind()
    do {
      let result = try await body(site(first))
      known.withLock { $0 = first }
      return result
    } catch  where Self.isOfAnotherKind(error) && mayBeManifest {
      let other: Kind = first == .signed ? .manifest : .signed
      do {
        let result = try await body(site(other))
        known.withLock { $0 = other }
        return result
      } catch let second {
        // The fault of the kind that exists; if neither exists, the fault of a site.
        let isMissing = Self.isOfAnotherKind(second)
        throw isMissing ? (first == .signed ? error : second) : second
      }
    }
  }

  /// Whether an error indicates that nothing of the kind exists at the location.
  private static func isOfAnotherKind(_ error: any Error) -> Bool {
    switch error {
    case let error as DeliveryError: [.noSite, .denied, .corrupt, .badResponse, .ioError].contains(error.code)
    case let error as PackStoreError: [.notFound, .wrongKind].contains(error.code)
    default: false
    }
  }

  /// A download manifest is not signed, so it is read only from a safe URL, or from a file of this machine.
  private var mayBeManifest: Bool {
    if FileLocation(location) != nil { return true }
    guard let path = localPath else { return false }
    return !isFolder(path)
  }

  private var localPath: FilePath? {
    if location.hasPrefix("file:") { return URL(string: location).map { FilePath($0.path) } }
    return location.contains("://") ? nil : FilePath(location)
  }

  private func likelyKind() -> Kind {
    if let path = localPath {
      let start = (try? InputFile(path).bytes(upTo: 64)) ?? []
      return start.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{") ? .manifest : .signed
    }
    let path = location.prefix { $0 != "?" && $0 != "#" }
    let isManifest = mayBeManifest && (location.contains("?") || path.hasSuffix(".json") || path.hasSuffix("/manifest"))
    return isManifest ? .manifest : .signed
  }
}
