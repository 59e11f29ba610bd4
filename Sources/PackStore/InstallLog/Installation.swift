/// What a store alone knows of a version that it keeps: how it came here, and what its publisher noted down.
///
/// It is no part of the version, and goes nowhere with it: neither to sites nor into archives, deltas or other stores.
package struct Installation: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  /// Another content under the same number is another version.
  package var catalog: CatalogID

  /// When it was committed here, in nanoseconds since 1970.
  package var date: Int64

  /// Where it came from, unless it was made here.
  package var source: Source?

  package var note: VersionNote?

  /// Where a version came from.
  package struct Source: Hashable, Sendable {
    /// A URL without user and password, or a path.
    package var location: String
    /// Of a site.
    package var channel: SiteChannel?
    /// The root key by whose word it was taken; nil: it was not signed.
    package var key: SitePublicKey?

    package init(location: String, channel: SiteChannel? = nil, key: SitePublicKey?) {
      self.location = location
      self.channel = channel
      self.key = key
    }
  }

  package init(_ version: PackVersion, at date: Int64, from source: Source? = nil, note: VersionNote? = nil) {
    pack = version.pack
    number = version.number
    catalog = version.catalog
    self.date = date
    self.source = source
    self.note = note
  }

  /// Which version it is of.
  struct Key: Hashable {
    let pack: PackID
    let number: UInt64
    let catalog: CatalogID
  }

  var key: Key { Key(pack: pack, number: number, catalog: catalog) }
}

extension Installation.Key {
  init(_ version: PackVersion) { self.init(pack: version.pack, number: version.number, catalog: version.catalog) }
}

// MARK: - As text

extension Installation {
  /// A JSON object on one line.
  package var line: [UInt8] {
    var members: [(name: String, value: [UInt8])] = [
      ("pack", canonicalJSON(pack.name)), ("version", Array(String(number).utf8)),
      ("catalog", canonicalJSON(catalog.description)), ("date", canonicalJSON(String(date))),
    ]
    if let source {
      members.append(("from", canonicalJSON(source.location)))
      if let channel = source.channel { members.append(("channel", canonicalJSON(channel.name))) }
      if let key = source.key { members.append(("key", canonicalJSON(key.description))) }
    }
    if let note { members.append(("note", canonicalJSON(note.text))) }
    return canonicalJSONObject(members)
  }

  /// Nil: this is not what ``line`` writes.
  package init?(line: some Collection<UInt8>) {
    let document = JSONReader.read(Array(line))
    guard document.faults.isEmpty, let object = document.root?.object else { return nil }
    var values: [String: JSONValue] = [:]
    for member in object where values.updateValue(member.value, forKey: member.name) != nil { return nil }
    func text(_ name: String) -> String? { values[name]?.string }
    guard let pack = text("pack").flatMap({ try? PackID(validating: $0) }),
      let number = values["version"]?.integer(UInt64.self), 1...PackVersion.lastNumber ~= number,
      let catalog = text("catalog").flatMap(CatalogID.init), let date = text("date").flatMap({ Int64($0) })
    else { return nil }
    self.pack = pack
    self.number = number
    self.catalog = catalog
    self.date = date
    if let location = text("from") {
      source = Source(
        location: location, channel: text("channel").flatMap { try? SiteChannel($0) },
        key: text("key").flatMap { SitePublicKey($0) })
    }
    note = text("note").flatMap { try? VersionNote($0) }
    guard self.line.elementsEqual(line) else { return nil }
  }
}
