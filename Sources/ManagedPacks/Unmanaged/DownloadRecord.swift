/// A download of an app's own, as the app's list has it.
///
/// ```
///             schedule, start                 a transfer begins              all bytes are here
///   created ------------------> waiting <------------------------> downloading ----------------> finished
///                                  |          it is tried again        |                             |
///                                  |                                   |                     the callback returns
///                                  +-----------------------------------+---> failed                  |
///                                     an error, a limit, cancel                |                     v
///                                                                 the callback returns ----------> (gone)
/// ```
/// The list has the phases *waiting*, *finished* and *failed*: which download is under way is known to the one process that has the
/// app's engine, and ends with it. Invariants:
/// - A download is in the list from the call that schedules it until a callback that was told of its end has returned.
/// - *Finished* means that all bytes are in the file `ready/ID`, or that a callback has taken them from there.
/// - ``validator`` names the state of the file of which `parts/ID` has the beginning; it is in the list before the first byte of
///   that state is written.
package struct DownloadRecord: Hashable, Codable, Sendable {
  /// `uniqueIdentifier`: the name of its files.
  package var id: String

  /// `identifier`: the app's own.
  package var name: String

  package var kind = Kind.file
  package var url: String
  package var fields: [String: String] = [:]
  package var isEssential = false

  /// What the app says of its size, in bytes; 0: it does not know.
  package var byteCount = 0

  package var priority = 0
  package var group: String

  package var phase = Phase.created
  package var isForeground = false

  /// In which order downloads were asked for.
  package var number = 0

  package var failure: Failure?

  // MARK: What has come

  package var validator: String?

  /// What the server says of the file's size; nil: nothing yet.
  package var totalByteCount: Int?

  /// Bytes of `parts/ID` that outlast the machine, and the boot since which all of them count.
  package var syncedByteCount = 0
  package var boot: String?

  /// Bytes that came and were thrown away since: they count against allowances.
  package var lostByteCount = 0

  package enum Kind: String, Codable, Sendable {
    case file
    /// What `BAManifestURL` names.
    case manifest
  }

  package enum Phase: String, Codable, Sendable {
    case created, waiting, finished, failed
  }

  /// Why it failed, as far as another process can be told.
  package struct Failure: Hashable, Codable, Sendable {
    /// Of ``BAError``; nil: the network's or a server's fault.
    package var code: BAError.Code?
    /// Of `DeliveryError`.
    package var delivery: String?
    package var reason: String

    package init(code: BAError.Code? = nil, delivery: String? = nil, reason: String) {
      self.code = code
      self.delivery = delivery
      self.reason = reason
    }
  }

  package init(id: String = UUID().uuidString, name: String, url: String, group: String) {
    self.id = id
    self.name = name
    self.url = url
    self.group = group
  }
}

extension DownloadRecord {
  package static let nameByteLimit = 1024
  package static let urlByteLimit = 8192
  package static let fieldLimit = 64
  package static let fieldByteLimit = 8192
  /// No file is longer, so that sums of sizes do not overflow.
  package static let sizeLimit = 1 << 50

  /// Whether it can be from a list or a message: what it says is bounded, and its files are its own.
  package var isBounded: Bool {
    UUID(uuidString: id)?.uuidString == id && (1...Self.nameByteLimit).contains(name.utf8.count)
      && (1...Self.urlByteLimit).contains(url.utf8.count) && group.utf8.count <= Self.nameByteLimit
      && fields.count <= Self.fieldLimit && fields.allSatisfy { Self.isField($0.key, $0.value) }
      && (0...Self.sizeLimit).contains(byteCount) && (0...Self.sizeLimit).contains(totalByteCount ?? 0)
      && (0...Self.sizeLimit).contains(syncedByteCount) && (0...Self.sizeLimit).contains(lostByteCount)
      && (validator?.utf8.count ?? 0) <= Self.nameByteLimit && (boot?.utf8.count ?? 0) <= Self.nameByteLimit
      && (failure?.reason.utf8.count ?? 0) <= 8 * Self.nameByteLimit && number >= 0
      && !(validator?.utf8.contains { $0 < 0x20 || $0 > 0x7e } ?? false)
  }

  /// Of a header: no line ends in it.
  private static func isField(_ name: String, _ value: String) -> Bool {
    let isToken = name.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
    return (1...256).contains(name.utf8.count) && isToken && value.utf8.count <= fieldByteLimit
      && value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }
  }

  /// Why it cannot be a download of a group; nil: it can.
  func fault(inGroup own: String) -> BAError? {
    func invalid(_ reason: String) -> BAError {
      BAError(.downloadInvalid, "the download '\(name.prefix(100))' \(reason)")
    }
    if name.isEmpty || name.utf8.count > Self.nameByteLimit {
      return invalid("has no identifier of 1 to \(Self.nameByteLimit) bytes")
    }
    if FileLocation(url) == nil { return invalid("has no https URL: only that is fetched, and http from this machine") }
    if group != own { return invalid("is of the group '\(group)', and the app is of '\(own)'") }
    if !(0...Self.sizeLimit).contains(byteCount) { return invalid("has a size below 0 or above 2^50 bytes") }
    if isEssential, byteCount == 0 { return invalid("is essential, and does not say its exact size") }
    return isBounded ? nil : invalid("has fields of the header that cannot be sent")
  }

  /// How soon it goes, among those that may go.
  func isBefore(_ other: Self) -> Bool {
    let own = [isForeground ? 1 : 0, isEssential ? 1 : 0, priority]
    let others = [other.isForeground ? 1 : 0, other.isEssential ? 1 : 0, other.priority]
    return own == others ? number < other.number : others.lexicographicallyPrecedes(own)
  }
}
