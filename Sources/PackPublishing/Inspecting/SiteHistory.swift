public import PackFormats
public import PackStore

/// The history of a channel: the changes of its root, as linked from the root that is current now.
public struct SiteHistory: Hashable, Sendable {
  public let channel: SiteChannel

  /// The bytes of the root, which signs the history.
  public let root: [UInt8]

  /// The number of changes since the history began; 0 for a root without a history.
  public let changeCount: UInt64

  /// The changes, the newest one first. Each was compared with the link from the change after it.
  public internal(set) var changes: [Change] = []

  /// The fault that ends the list; `nil` if the list ends at the requested number of changes or at the first change.
  public internal(set) var fault: Fault?

  /// Whether the list contains all changes since the history began.
  public var isComplete: Bool { fault == nil && UInt64(changes.count) == changeCount }

  /// One change of a root.
  public struct Change: Hashable, Sendable {
    /// The position in the history of the channel, from 1 on.
    public let number: UInt64

    /// When the new root was signed, by the publisher's clock.
    public let madeAt: Date

    /// The number of the new root.
    public let sequence: UInt64

    /// The release key that signed the new root.
    public let releaseKey: SitePublicKey

    /// The SHA-256 of the record, 64 hexadecimal digits.
    public let record: String

    /// The content digests of the previous and the new root, 64 hexadecimal digits: `Docs/FORMAT.md`, section 21. `nil` if no previous root was
    /// readable.
    public let before: String?
    public let after: String

    /// The private part of the record.
    public let note: Note

    /// The bytes of the record, and of its private part if it is readable here.
    public let recordBytes: [UInt8]
    public let noteBytes: [UInt8]?
  }

  /// The private part of a record.
  public enum Note: Hashable, Sendable {
    /// The publisher recorded none.
    case none
    case known(ChangeNote)
    /// It is not here: it was erased, is damaged, or the place does not show it.
    case missing
  }

  /// A record that cannot be used. The records before it are unknown.
  public struct Fault: Hashable, Sendable {
    /// Relative to the site.
    public let path: String

    /// The position of the record in the history.
    public let number: UInt64

    /// Whether the record is missing, rather than damaged.
    public let isMissing: Bool
  }

  init(channel: SiteChannel, root: [UInt8], changeCount: UInt64) {
    self.channel = channel
    self.root = root
    self.changeCount = changeCount
  }
}

extension SiteHistory {
  /// Returns the history as one text file, which others can check without the site: the line `packstore history 1`, then lines with base64:
  /// `root` and the root, then for each change `record` and its record, and `private` and its private part, if that is known.
  ///
  /// - Parameter hasNotes: whether to include private parts.
  public func exported(hasNotes: Bool = true) -> [UInt8] {
    var lines = ["packstore history 1", "root \(Data(root).base64EncodedString())"]
    for change in changes {
      lines.append("record \(Data(change.recordBytes).base64EncodedString())")
      if hasNotes, let bytes = change.noteBytes { lines.append("private \(Data(bytes).base64EncodedString())") }
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }
}

extension SiteHistory.Change {
  /// - Parameter noteBytes: the file of the private part; `nil` if it is missing. A file that differs from the record counts as missing.
  init(_ record: ChangeRecord, noteBytes: [UInt8]?) {
    number = record.number
    madeAt = Date(timeIntervalSince1970: Double(record.madeAt) / 1e9)
    sequence = record.sequence
    releaseKey = record.releaseKey
    self.record = record.digest.hex
    before = record.before?.hex
    after = record.after.hex
    recordBytes = record.bytes
    let sealed = noteBytes.flatMap { try? SealedChangeNote(decoding: $0, file: "notes/\(record.digest.hex)") }
    let fitting = sealed.flatMap { $0.digest == record.privatePart ? $0 : nil }
    self.noteBytes = fitting?.bytes
    let known = fitting.map { SiteHistory.Note.known($0.note) } ?? .missing
    note = record.privatePart == nil ? SiteHistory.Note.none : known
  }
}
