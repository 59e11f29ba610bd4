/// JSON that a publisher attaches to a version of a pack for its app, and that the app gets back byte for byte.
public struct UserInfo: Sendable {
  /// The text as the publisher wrote it, without comments, and without white space around it.
  package let bytes: [UInt8]

  /// The JSON, in UTF-8.
  public var json: Data { Data(bytes) }

  /// - Throws: `invalidArgument` for what is no JSON, or is `null`, which is the same as none.
  public init(json: some Collection<UInt8>) throws {
    let document = JSONReader.read(Array(json))
    if let fault = document.faults.first { throw Self.error(fault) }
    guard let root = document.root else { throw PackStoreError(.invalidArgument, "the user info is not JSON") }
    try self.init(root, in: document)
  }

  public init(json: String) throws { try self.init(json: json.utf8) }

  /// A value of a text that has no faults.
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
  /// Texts that mean the same, but are not the same bytes, are different.
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
