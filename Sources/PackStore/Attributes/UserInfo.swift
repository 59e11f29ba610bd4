/// JSON that a publisher attaches to a pack version for its app, which receives exactly these bytes.
public struct UserInfo: Sendable {
  /// The text as the publisher wrote it, without comments and surrounding white space.
  package let bytes: [UInt8]

  /// The JSON, in UTF-8.
  public var json: Data { Data(bytes) }

  /// - Throws: `invalidArgument` for invalid JSON, and for `null`, which means no user info.
  public init(json: some Collection<UInt8>) throws {
    let document = JSONReader.read(Array(json))
    if let fault = document.faults.first { throw Self.error(fault) }
    guard let root = document.root else { throw PackStoreError(.invalidArgument, "the user info is not JSON") }
    try self.init(root, in: document)
  }

  public init(json: String) throws { try self.init(json: json.utf8) }

  /// Creates user info from a value of a valid text.
  package init(_ value: JSONValue, in document: JSONDocument) throws {
    if case .null = value.content {
      var error = PackStoreError(.invalidArgument, "the user info is null")
      error.specificRemedy = "leave it out to say none"
      throw error
    }
    bytes = document.source(of: value)
  }

  private static func error(_ fault: TextFault) -> PackStoreError {
    let place = "line \(fault.position.line), column \(fault.position.column)"
    var error = PackStoreError(.invalidArgument, fault.finding, about: .parameter("user info, \(place)"))
    error.specificRemedy = fault.remedy
    return error
  }
}

extension UserInfo: Hashable {
  /// Texts with the same meaning but different bytes are different.
  public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension UserInfo: CustomStringConvertible {
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension UserInfo: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try UserInfo(json: $0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
