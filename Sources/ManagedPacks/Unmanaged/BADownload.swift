import Synchronization

/// A download of the app's own: a file that the system downloads and delivers, regardless of its content.
///
/// Two values are equal if they have the same ``uniqueIdentifier``. In the process that downloads, ``state`` changes as the
/// download proceeds. In other processes it keeps the value it had when the download was scheduled.
public class BADownload: Hashable, @unchecked Sendable {
  /// The state of a download. `DownloadRecord` describes the transitions.
  public enum State: Int, CaseIterable, Sendable {
    /// The download failed or was cancelled.
    case failed = -1
    /// The download was not scheduled yet.
    case created = 0
    /// The download is scheduled, and waits for its turn, for a network, or for a retry.
    case waiting = 1
    case downloading = 2
    /// The file is complete.
    case finished = 3
  }

  /// The order of downloads: a higher priority starts first.
  public struct Priority: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(_ rawValue: Int) { self.rawValue = rawValue }

    public static let min = Self(.min)
    public static let `default` = Self(0)
    public static let max = Self(.max)

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  private let content: Mutex<(record: DownloadRecord, state: State)>

  init(_ record: DownloadRecord) { content = Mutex((record, State(record.phase))) }

  /// Creates the download for a record of a list or a message.
  static func make(_ record: DownloadRecord) -> BADownload {
    switch record.kind {
    case .file: BAURLDownload(record)
    case .manifest: BAManifestDownload(record)
    }
  }

  var record: DownloadRecord { content.withLock { $0.record } }

  /// Changes the state, and the record if given.
  func move(to state: State, _ record: DownloadRecord? = nil) {
    content.withLock { content in
      content.state = state
      if let record { content.record = record }
    }
  }

  /// The app's name for the download.
  public var identifier: String { record.name }

  /// The unique id, which differs even between downloads with the same name.
  public var uniqueIdentifier: String { record.id }

  public var state: State { content.withLock { $0.state } }
  public var priority: Priority { Priority(record.priority) }

  /// Whether the app does not start before the download has finished or failed.
  public var isEssential: Bool { record.isEssential }

  /// Returns a new download of the same file that is not essential, to be scheduled.
  public func removingEssential() -> Self {
    let old = record
    var copy = DownloadRecord(name: old.name, url: old.url, group: old.group)
    copy.kind = old.kind
    copy.fields = old.fields
    copy.byteCount = old.byteCount
    copy.priority = old.priority
    return Self(copying: copy)
  }

  required init(copying record: DownloadRecord) { content = Mutex((record, State(record.phase))) }

  public static func == (one: BADownload, other: BADownload) -> Bool { one.uniqueIdentifier == other.uniqueIdentifier }

  public func hash(into hasher: inout Hasher) { hasher.combine(uniqueIdentifier) }
}

extension BADownload.State {
  init(_ phase: DownloadRecord.Phase) {
    self =
      switch phase {
      case .created: .created
      case .waiting: .waiting
      case .finished: .finished
      case .failed: .failed
      }
  }
}

extension BADownload: CustomStringConvertible {
  public var description: String { "\(identifier) (\(state))" }
}

/// The file at `BAManifestURL`. An extension receives this value if the download of the manifest failed.
final class BAManifestDownload: BADownload, @unchecked Sendable {}
