import Synchronization

/// A download of an app's own: a file that the system fetches and hands over, whatever is in it.
///
/// Two are equal if they are the same download, by ``uniqueIdentifier``. What ``state`` says moves on by itself in the process that
/// downloads; elsewhere it is as it was when the download was asked for.
public class BADownload: Hashable, @unchecked Sendable {
  /// Where a download is. `DownloadRecord` has the transitions.
  public enum State: Int, CaseIterable, Sendable {
    /// It did not come, or was cancelled.
    case failed = -1
    /// It was not asked for yet.
    case created = 0
    /// It was asked for, and waits for its turn, a network, or another try.
    case waiting = 1
    case downloading = 2
    /// All of it is here.
    case finished = 3
  }

  /// Which of several downloads goes first; the higher.
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

  /// The download for a record of a list or a message.
  static func make(_ record: DownloadRecord) -> BADownload {
    switch record.kind {
    case .file: BAURLDownload(record)
    case .manifest: BAManifestDownload(record)
    }
  }

  var record: DownloadRecord { content.withLock { $0.record } }

  /// Another state of the same download.
  func move(to state: State, _ record: DownloadRecord? = nil) {
    content.withLock { content in
      content.state = state
      if let record { content.record = record }
    }
  }

  /// The app's own name for it.
  public var identifier: String { record.name }

  /// What tells it from all other downloads, also of the same name.
  public var uniqueIdentifier: String { record.id }

  public var state: State { content.withLock { $0.state } }
  public var priority: Priority { Priority(record.priority) }

  /// The app does not start before it has come or failed.
  public var isEssential: Bool { record.isEssential }

  /// The same download as one that does not keep the app from starting: a new one, to be scheduled.
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

/// What `BAManifestURL` names: an extension hears of it when it did not come.
final class BAManifestDownload: BADownload, @unchecked Sendable {}
