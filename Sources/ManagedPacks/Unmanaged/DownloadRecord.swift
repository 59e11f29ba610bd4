/// A download of the app's own, as recorded in the app's list.
///
/// ```
///             schedule, start                 a transfer begins            the file is complete
///   created ------------------> waiting <------------------------> downloading ----------------> finished
///                                  |             a retry               |                             |
///                                  |                                   |                     the callback returns
///                                  +-----------------------------------+---> failed                  |
///                                     an error, a limit, cancel                |                     v
///                                                                 the callback returns ----------> (removed)
/// ```
/// The list records the phases *waiting*, *finished* and *failed*. Only the process that runs the app's engine keeps track of
/// running transfers, which end with it. Invariants:
/// - A download is in the list from the call that schedules it until the callback for its end has returned.
/// - *Finished* means that all bytes are in the file `ready/ID`, or that a callback has moved that file.
/// - ``validator`` identifies the version of the remote file whose beginning is in `parts/ID`. It is in the list before the first
///   byte of that version is written.
package struct DownloadRecord: Hashable, Codable, Sendable {
  /// `uniqueIdentifier`, and the name of the download's files.
  package var id: String

  /// `identifier`, the app's name for the download.
  package var name: String

  package var kind = Kind.file
  package var url: String
  package var fields: [String: String] = [:]
  package var isEssential = false

  /// The size that the app states, in bytes; 0 if unknown.
  package var byteCount = 0

  package var priority = 0
  package var group: String

  package var phase = Phase.created
  package var isForeground = false

  /// The position in the order of scheduling.
  package var number = 0

  package var failure: Failure?

  // MARK: Received data

  package var validator: String?

  /// The file size that the server states; `nil` before its first answer.
  package var totalByteCount: Int?

  /// The number of bytes of `parts/ID` that survive a power failure, and the boot during which all bytes are valid.
  package var syncedByteCount = 0
  package var boot: String?

  /// The number of discarded bytes, which count against allowances.
  package var lostByteCount = 0

  package enum Kind: String, Codable, Sendable {
    case file
    /// The file at `BAManifestURL`.
    case manifest
  }

  package enum Phase: String, Codable, Sendable {
    case created, waiting, finished, failed
  }

  /// The cause of a failure, in a form that other processes can read.
  package struct Failure: Hashable, Codable, Sendable {
    /// The code of a ``BAError``; `nil` for an error of the network or a server.
    package var code: BAError.Code?
    /// The code of a `DeliveryError`.
    package var delivery: String?
    package var reason: String

    package init(code: BAError.Code? = nil, delivery: String? = nil, reason: String) {
      self.code = code
      self.delivery = delivery
      self.reason = reason
    }
  }

  /// The download that an extension receives for a challenge of a site's server, which is not one of its own downloads.
  package init(ofSite challenge: FileChallenge) {
    let address = "\(challenge.scheme)://\(challenge.host):\(challenge.port)"
    self.init(name: address, url: address, group: "")
    kind = .manifest
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
  /// The largest file size; sums of sizes do not overflow.
  package static let sizeLimit = 1 << 50

  /// Whether a record read from a list or a message is valid: its values are within limits, and its id is a UUID.
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

  /// Returns whether a header field is valid and contains no line break.
  private static func isField(_ name: String, _ value: String) -> Bool {
    let isToken = name.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
    return (1...256).contains(name.utf8.count) && isToken && value.utf8.count <= fieldByteLimit
      && value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }
  }

  /// Returns the reason why the record is not a valid download of a group; `nil` if it is valid.
  func fault(inGroup own: String) -> BAError? {
    func invalid(_ reason: String) -> BAError {
      BAError(.downloadInvalid, "the download '\(name.prefix(100))' \(reason)")
    }
    if name.isEmpty || name.utf8.count > Self.nameByteLimit {
      return invalid("has no identifier of 1 to \(Self.nameByteLimit) bytes")
    }
    if FileLocation(url) == nil { return invalid("needs an https URL; http is allowed only for this machine") }
    if group != own { return invalid("belongs to the group '\(group)', but the app to '\(own)'") }
    if !(0...Self.sizeLimit).contains(byteCount) { return invalid("has a size below 0 or above 2^50 bytes") }
    if isEssential, byteCount == 0 { return invalid("is essential, but does not state its exact size") }
    return isBounded ? nil : invalid("has header fields that cannot be sent")
  }

  /// Returns whether the download starts before another one.
  func isBefore(_ other: Self) -> Bool {
    let own = [isForeground ? 1 : 0, isEssential ? 1 : 0, priority]
    let others = [other.isForeground ? 1 : 0, other.isEssential ? 1 : 0, other.priority]
    return own == others ? number < other.number : others.lexicographicallyPrecedes(own)
  }
}
