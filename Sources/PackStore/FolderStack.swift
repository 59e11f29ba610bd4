#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folders from the target down to the one that is written to, open. Assets come in order of their paths, so that
/// most find their folder open already.
struct FolderStack: ~Copyable {
  private let root: CInt
  private var levels: [(name: ArraySlice<UInt8>, descriptor: CInt)] = []
  private var current: ArraySlice<UInt8> = []

  /// Folders that were made, since the count was last taken.
  private var madeCount = 0

  /// - Parameter root: the target's descriptor, which stays open longer than this.
  init(root: CInt) { self.root = root }

  deinit { for level in levels { close(level.descriptor) } }

  /// The descriptor of a folder, relative to the target, which is made if need be. Open until the next call.
  mutating func enter(_ folder: ArraySlice<UInt8>) throws(PackStoreError) -> CInt {
    if folder != current { try move(to: folder) }
    return levels.last?.descriptor ?? root
  }

  mutating func takeMadeCount() -> Int {
    defer { madeCount = 0 }
    return madeCount
  }

  private mutating func move(to folder: ArraySlice<UInt8>) throws(PackStoreError) {
    let names = folder.isEmpty ? [] : parts(of: folder)
    let sharedCount = zip(names, levels).prefix { $0 == $1.name }.count
    for level in levels[sharedCount...] { close(level.descriptor) }
    levels.removeSubrange(sharedCount...)
    current = folder.prefix(0)
    for name in names[sharedCount...] { try push(name, of: folder) }
    current = folder
  }

  private mutating func push(_ name: ArraySlice<UInt8>, of folder: ArraySlice<UInt8>) throws(PackStoreError) {
    let parent = levels.last?.descriptor ?? root
    let terminated = name.map { CChar(bitPattern: $0) } + [0]
    let (descriptor, isNew) = try enterFolder(
      terminated, in: parent, path: String(decoding: folder[..<name.endIndex], as: UTF8.self))
    levels.append((name, descriptor))
    madeCount += isNew ? 1 : 0
  }
}
