/// When a client fetches a pack automatically.
public enum DownloadPolicy: Hashable, Sendable {
  /// With the app, which does not start before the pack is available.
  case essential(on: Set<InstallationEvent>)

  /// After these events, in the background.
  case prefetch(on: Set<InstallationEvent>)

  /// When the app requests it.
  case onDemand

  /// The name in a manifest and in attributes.
  public var name: String {
    switch self {
    case .essential: "essential"
    case .prefetch: "prefetch"
    case .onDemand: "onDemand"
    }
  }

  /// The events of the policy; empty for on demand.
  public var events: Set<InstallationEvent> {
    switch self {
    case .essential(let events), .prefetch(let events): events
    case .onDemand: []
    }
  }

  package static let names = ["essential", "prefetch", "onDemand"]
}

/// An event of an app that triggers automatic fetching.
public struct InstallationEvent: RawRepresentable, Hashable, Comparable, Sendable {
  /// A letter, then at most 31 letters and digits.
  public let rawValue: String

  /// `nil` for an invalid identifier. An unknown event is kept, because a later client may support it.
  public init?(rawValue: String) {
    guard isIdentifier(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  private init(known name: String) { rawValue = name }

  /// The app is installed for the first time.
  public static let firstInstallation = Self(known: "firstInstallation")

  /// The installed app is updated.
  public static let subsequentUpdate = Self(known: "subsequentUpdate")

  package static let all = [firstInstallation, subsequentUpdate]

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An operating system of devices.
public struct Platform: RawRepresentable, Hashable, Comparable, Sendable {
  /// A letter, then at most 31 letters and digits.
  public let rawValue: String

  /// `nil` for an invalid identifier. An unknown platform is kept, because a later client may support it.
  public init?(rawValue: String) {
    guard isIdentifier(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  private init(known name: String) { rawValue = name }

  public static let iOS = Self(known: "iOS")
  public static let macOS = Self(known: "macOS")
  public static let tvOS = Self(known: "tvOS")
  public static let visionOS = Self(known: "visionOS")

  /// The platform that this program was built for; `nil` for other systems, such as Linux, which a manifest cannot name.
  ///
  /// A client without a platform accepts versions for any platform. A program on Linux that needs the versions for iOS passes
  /// `.iOS` as the platform of its pulls.
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

/// Where a device stores a pack's data.
public enum Placement: String, Hashable, Codable, CaseIterable, Sendable {
  /// Kept until the pack is removed.
  case durable
  /// May be deleted at any time, and is fetched again.
  case purgeable
}

private func isIdentifier(_ text: String) -> Bool {
  let isLetter: (UInt8) -> Bool = { 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 }
  guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 32 else { return false }
  return text.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 }
}
