// Replaces swift-system when decoders are fuzzed.
public struct Errno: Error, Hashable, Codable, Sendable, CustomStringConvertible {
  public let rawValue: Int32

  public static let tooManySymbolicLinkLevels = Errno(rawValue: 40)
  public static let noLocks = Errno(rawValue: 37)
  public static let illegalByteSequence = Errno(rawValue: 84)

  public init(rawValue: Int32) { self.rawValue = rawValue }

  public var description: String { "error \(rawValue)" }
}

public struct FilePath: Hashable, Sendable {
  public let string: String

  public init(_ string: String) { self.string = string }

  public var lastComponent: FilePath? { string.split(separator: "/").last.map { FilePath(String($0)) } }

  public func appending(_ name: String) -> FilePath { FilePath(string + "/" + name) }
}
