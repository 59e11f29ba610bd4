import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Paths of one extraction that are one path on disks that ignore case or normal forms.
///
/// A path is added before it is written. So if a file of the same extraction is in the way of a path, under another name, both paths
/// were added, in any order of writing.
final class TwinNames: Sendable {
  private let state = Mutex(State())

  private struct State {
    /// The folders that lead to the last path, each with the siblings so far.
    var levels = [Level()]
    var current: [ArraySlice<UInt8>] = []
    /// Names that have twins, by their folder and folding.
    var twins: [Key: [[UInt8]]] = [:]
  }

  private struct Level {
    /// The first name of each folding, by the folding's hash, as its place in `names`.
    var places: [Int: Int] = [:]
    /// Names, each with a zero.
    var names: [UInt8] = []
  }

  private struct Key: Hashable {
    let folder: [UInt8]
    let name: FoldedName
  }

  /// Adds a path and the folders that lead to it. Paths come in bytewise order.
  func add(_ path: ArraySlice<UInt8>) {
    let parts = parts(of: path)
    state.withLock { state in
      let shared = zip(parts, state.current).prefix { $0.elementsEqual($1) }.count
      state.levels.removeSubrange(min(shared + 1, state.levels.count)...)
      for index in shared..<parts.count {
        Self.add(parts, at: index, &state)
        state.levels.append(Level())
      }
      state.current = parts
    }
  }

  private static func add(_ parts: [ArraySlice<UInt8>], at index: Int, _ state: inout State) {
    let name = Array(parts[index]), folded = FoldedName(name)
    let hash = folded.hashValue
    guard let place = state.levels[index].places[hash] else {
      state.levels[index].places[hash] = state.levels[index].names.count
      state.levels[index].names += name + [0]
      return
    }
    let first = Array(state.levels[index].names[place...].prefix { $0 != 0 })
    // A folder "a" comes again after a sibling such as "a.txt".
    guard first != name, FoldedName(first) == folded else { return }
    let key = Key(folder: Array(parts[..<index].joined(separator: [UInt8(ascii: "/")])), name: folded)
    var names = state.twins[key] ?? [first]
    if !names.contains(name) { names.append(name) }
    state.twins[key] = names
  }

  /// The other names that some disks take for the name of a path; empty for nearly all paths.
  func twins(of path: ArraySlice<UInt8>) -> [[UInt8]] {
    let name = parts(of: path).last ?? path
    let key = Key(folder: Array(path[..<max(name.startIndex - 1, path.startIndex)]), name: FoldedName(name))
    return state.withLock { state in
      state.twins.isEmpty ? [] : (state.twins[key] ?? []).filter { !$0.elementsEqual(name) }
    }
  }

  /// Checks that the file in the way of a path is not another path of this extraction.
  ///
  /// - Parameters:
  ///   - path: the path, relative to the target.
  ///   - folder: the folder that it is in.
  /// - Throws: `exists` if the disk takes two names of the extraction for one.
  func check(_ path: ArraySlice<UInt8>, in folder: CInt) throws {
    let twins = twins(of: path)
    guard !twins.isEmpty else { return }
    let name = Array(parts(of: path).last ?? path)
    // First: a name that another thread writes after this is not missed in the list.
    let found = ([name] + twins).filter { exists($0, in: folder) }
    let listed = try nameBytes(inFolder: folder, path: String(decoding: path, as: UTF8.self))
    guard let twin = twins.first(where: { isOneName(name, $0, found: found, listed: listed) }) else { return }
    let parent = path[..<max(path.endIndex - name.count, path.startIndex)]
    let (one, other) = (String(decoding: path, as: UTF8.self), String(decoding: parent + twin, as: UTF8.self))
    let isForm = one == other
    var error = PackStoreError(
      .exists, "the same name on this disk as '\(isForm ? other.withVisibleForm : other)'",
      about: .path(isForm ? one.withVisibleForm : one))
    error.specificRemedy = "extract to another disk, or rename one"
    throw error
  }

  private func exists(_ name: [UInt8], in folder: CInt) -> Bool {
    var status = stat()
    return fstatat(folder, name.map(CChar.init(bitPattern:)) + [0], &status, AT_SYMLINK_NOFOLLOW) == 0
  }
}

/// Whether a disk takes two names for one: it finds one of them that its list of the folder does not have.
///
/// - Parameters:
///   - found: the names under which the disk finds a file.
///   - listed: the names in the folder.
func isOneName(_ name: [UInt8], _ twin: [UInt8], found: [[UInt8]], listed: [[UInt8]]) -> Bool {
  // Some disks store all names in one normal form, and tell cases apart.
  let isForm = String(decoding: name, as: UTF8.self) == String(decoding: twin, as: UTF8.self)
  return [name, twin].contains { wanted in
    guard found.contains(wanted) else { return false }
    return !listed.contains {
      isForm ? $0 == wanted : String(decoding: $0, as: UTF8.self) == String(decoding: wanted, as: UTF8.self)
    }
  }
}
