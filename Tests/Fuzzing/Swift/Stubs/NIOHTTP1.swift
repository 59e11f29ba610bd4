// Replaces swift-nio's header fields when decoders are fuzzed.
public struct HTTPHeaders {
  private let fields: [(String, String)]

  public init(_ fields: [(String, String)]) { self.fields = fields }

  public func first(name: String) -> String? { fields.first { $0.0.lowercased() == name.lowercased() }?.1 }

  public subscript(canonicalForm name: String) -> [Substring] {
    fields.filter { $0.0.lowercased() == name.lowercased() }.flatMap { $0.1.split(separator: ",") }
  }
}
