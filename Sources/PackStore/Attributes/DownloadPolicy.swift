/// When a client fetches a pack by itself.
public enum DownloadPolicy: Hashable, Sendable {
  /// With the app, which is not ready to start before.
  case essential(on: Set<InstallationEvent>)

  /// From the time of these events on, in the background.
  case prefetch(on: Set<InstallationEvent>)

  /// When the app asks for it.
  case onDemand

  /// The name in a manifest and in attributes.
  public var name: String {
    switch self {
    case .essential: "essential"
    case .prefetch: "prefetch"
    case .onDemand: "onDemand"
    }
  }

  /// None where the policy is on demand.
  public var events: Set<InstallationEvent> {
    switch self {
    case .essential(let events), .prefetch(let events): events
    case .onDemand: []
    }
  }

  package static let names = ["essential", "prefetch", "onDemand"]
}

/// What happens to an app that makes its client fetch packs.
public struct InstallationEvent: RawRepresentable, Hashable, Comparable, Sendable {
  /// A letter, then at most 31 letters and digits.
  public let rawValue: String

  /// Nil for what is no identifier. One that is not known is kept: a later client may know it.
  public init?(rawValue: String) {
    guard isIdentifier(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  private init(known name: String) { rawValue = name }

  /// The app is installed, and was not there before.
  public static let firstInstallation = Self(known: "firstInstallation")

  /// The app, which was there, is updated.
  public static let subsequentUpdate = Self(known: "subsequentUpdate")

  package static let all = [firstInstallation, subsequentUpdate]

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A system that devices run.
public struct Platform: RawRepresentable, Hashable, Comparable, Sendable {
  /// A letter, then at most 31 letters and digits.
  public let rawValue: String

  /// Nil for what is no identifier. One that is not known is kept: a later client may know it.
  public init?(rawValue: String) {
    guard isIdentifier(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  private init(known name: String) { rawValue = name }

  public static let iOS = Self(known: "iOS")
  public static let macOS = Self(known: "macOS")
  public static let tvOS = Self(known: "tvOS")
  public static let visionOS = Self(known: "visionOS")

  /// The one that this program was built for; nil where it is none of these, as on Linux, for no manifest can name another.
  ///
  /// A client without a platform takes versions for any: a program on Linux that wants what, say, iOS is offered passes `.iOS`
  /// as the platform of its pulls.
  public static var current: Self? {
    #if os(iOS)
      iOS
    #elseif os(macOS)
      macOS
    #elseif os(tvOS)
      tvOS
    #elseif os(visionOS)
      visionOS
    #else
      nil
    #endif
  }

  /// The platforms that a manifest can name.
  package static let all = [iOS, macOS, tvOS, visionOS]

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Where a pack's bytes are kept on a device.
public enum Placement: String, Hashable, Codable, CaseIterable, Sendable {
  /// They stay until the pack is removed.
  case durable
  /// They may vanish at any moment, and are fetched again.
  case purgeable
}

private func isIdentifier(_ text: String) -> Bool {
  let isLetter: (UInt8) -> Bool = { 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 }
  guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 32 else { return false }
  return text.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 }
}
