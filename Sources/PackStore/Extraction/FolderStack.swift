#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folders from the target down to the folder being written; the deepest ones are open. Assets come in order of their paths, so
/// that most find their folder already open.
struct FolderStack: ~Copyable {
  /// The number of folders open at once. Paths may have more parts than a process may have descriptors.
  static let openLimit = 32

  private let root: CInt

  /// The paths of an extraction: prevents two of its folders from becoming one.
  private let twins: TwinNames?

  /// Closed folders come first, then open ones.
  private var levels: [(name: ArraySlice<UInt8>, descriptor: CInt?)] = []
  private var firstOpen = 0
  private var current: ArraySlice<UInt8> = []

  /// The number of folders created since it was last read.
  private var madeCount = 0

  /// - Parameters:
  ///   - root: the target's descriptor, which stays open longer than this.
  ///   - twins: the paths of the extraction.
  init(root: CInt, twins: TwinNames? = nil) {
    self.root = root
    self.twins = twins
  }

  deinit { for level in levels { level.descriptor.map { _ = close($0) } } }

  /// Returns the descriptor of a folder relative to the target, which is created if necessary. Open until the next call.
  mutating func enter(_ folder: ArraySlice<UInt8>) throws -> CInt {
    if folder != current {
      do {
        try move(to: folder)
      } catch {
        leaveAll()
        throw error
      }
    }
    return lowest
  }

  /// Returns to the target: after a failure, the stack may be at an intermediate folder that no caller requested.
  private mutating func leaveAll() {
    for level in levels { level.descriptor.map { _ = close($0) } }
    levels = []
    firstOpen = 0
    current = []
  }

  /// The last folder of the stack is always open.
  private var lowest: CInt { levels.last?.descriptor ?? root }

  mutating func takeMadeCount() -> Int {
    defer { madeCount = 0 }
    return madeCount
  }

  private mutating func move(to folder: ArraySlice<UInt8>) throws {
    let names = folder.isEmpty ? [] : parts(of: folder)
    var sharedCount = zip(names, levels).prefix { $0 == $1.name }.count
    // Below a closed folder, the path is opened again from the target.
    if sharedCount > 0 && sharedCount <= firstOpen { sharedCount = 0 }
    for level in levels[sharedCount...] { level.descriptor.map { _ = close($0) } }
    levels.removeSubrange(sharedCount...)
    firstOpen = min(firstOpen, levels.count)
    for name in names[sharedCount...] { try push(name, of: folder) }
    current = folder
  }

  private mutating func push(_ name: ArraySlice<UInt8>, of folder: ArraySlice<UInt8>) throws {
    let parent = lowest
    let terminated = name.map { CChar(bitPattern: $0) } + [0]
    let path = folder[..<name.endIndex]
    let isNew = try makeFolder(terminated, in: parent, path: String(decoding: path, as: UTF8.self))
    if !isNew { try twins?.check(path, in: parent) }
    let descriptor = try openFolder(terminated, in: parent, path: String(decoding: path, as: UTF8.self))
    levels.append((name, descriptor))
    madeCount += isNew ? 1 : 0
    guard levels.count - firstOpen > Self.openLimit else { return }
    levels[firstOpen].descriptor.map { _ = close($0) }
    levels[firstOpen].descriptor = nil
    firstOpen += 1
  }
}
