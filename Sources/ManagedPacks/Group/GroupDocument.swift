import PackStore

/// What a group's folder keeps as JSON, in a file that is replaced as a whole. It is read as if a stranger had written it, and never
/// written longer than it can be read.
package protocol GroupDocument: Codable {
  /// The version of what is written.
  static var format: Int { get }
  static var byteCountLimit: Int { get }
  /// What it is, in errors.
  static var title: String { get }
  /// Why one that is not bounded is not written.
  static var excess: ManagedPacksError { get }

  /// Whether all that it counts and names is within its limits.
  var isBounded: Bool { get }
}

extension GroupDocument {
  /// Nil for what is no such document.
  ///
  /// - Throws: ``ManagedPacksError`` `newerJournal` for one of a later version.
  package init?(decoding bytes: [UInt8]) throws {
    guard bytes.count <= Self.byteCountLimit else { return nil }
    // Before Foundation's decoder sees it: deep nesting, names that are there twice.
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

  /// - Throws: ``excess`` for a document that would not be read again.
  package func encode() throws -> [UInt8] {
    guard isBounded else { throw Self.excess }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = Array(try encoder.encode(self))
    guard bytes.count <= Self.byteCountLimit else { throw Self.excess }
    return bytes
  }
}
