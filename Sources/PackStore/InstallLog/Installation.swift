/// A store's own record of a kept version: its source, and the publisher's private note.
///
/// It is not part of the version, and is not transferred to sites, archives, deltas or other stores.
package struct Installation: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  /// Other content with the same number is another version.
  package var catalog: CatalogID

  /// The date of the commit here, in nanoseconds since 1970.
  package var date: Int64

  /// The source; `nil` if the version was created here.
  package var source: Source?

  package var note: VersionNote?

  /// The source of a version.
  package struct Source: Hashable, Sendable {
    /// A URL without user and password, or a path.
    package var location: String
    /// The channel, for a site.
    package var channel: SiteChannel?
    /// The root key that signed it; `nil`: not signed.
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

  /// The version of a record.
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
  /// The record as a JSON object on one line.
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

  /// `nil` if the line is not in the form of ``line``.
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
