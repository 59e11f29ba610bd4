import PackStore

/// A JSON file in a group's folder, which is replaced as a whole. Reading treats it as untrusted, and writing never exceeds the
/// limits for reading.
package protocol GroupDocument: Codable {
  /// The version of the format.
  static var format: Int { get }
  static var byteCountLimit: Int { get }
  /// The name of the document in errors.
  static var title: String { get }
  /// The error for a document that exceeds its limits.
  static var excess: ManagedPacksError { get }

  /// Whether the document is within its limits.
  var isBounded: Bool { get }
}

extension GroupDocument {
  /// Returns `nil` for an invalid document.
  ///
  /// - Throws: ``ManagedPacksError`` `newerJournal` for a document of a later version.
  package init?(decoding bytes: [UInt8]) throws {
    guard bytes.count <= Self.byteCountLimit else { return nil }
    // Before Foundation's decoder: rejects deep nesting and duplicate names.
    let document = JSONReader.read(bytes)
    guard document.faults.isEmpty, let members = document.root?.object,
      let format = members.first(where: { $0.name == "format" })?.value.integer(Int.self)
    else { return nil }
    guard format <= Self.format else {
      throw ManagedPacksError(
        .newerJournal, "\(Self.title) was written by a later version of PackStore", remedy: "update PackStore")
    }
    guard let decoded = try? JSONDecoder().decode(Self.self, from: Data(bytes)), decoded.isBounded else { return nil }
    self = decoded
  }

  /// - Throws: ``excess`` for a document that could not be read again.
  package func encode() throws -> [UInt8] {
    guard isBounded else { throw Self.excess }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = Array(try encoder.encode(self))
    guard bytes.count <= Self.byteCountLimit else { throw Self.excess }
    return bytes
  }
}
