/// Where a group keeps its ``URLOverride``: the file `override` of its folder, which only its owner can change, and `overrides/`
/// with a folder for each server that was used, of which those are removed that no process uses any more.
package struct OverrideFile: Sendable {
  private static let name = "override"
  private let folder: GroupFolder

  package init(in folder: GroupFolder) { self.folder = folder }

  /// What a group has of an override.
  package enum State: Hashable, Sendable {
    case none
    case active(URLOverride)
    /// Its time is over, or its clock was set back; the file stays until the next one is set, or it is cleared.
    case ended(URLOverride)
    /// There is a file that does not count, and why.
    case refused(ManagedPacksError)

    package var active: URLOverride? { if case .active(let override) = self { override } else { nil } }
  }

  /// What counts now. One that may be another user's, is damaged or of a later version does not: apps use their real sites.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Complexity: one look at the folder where there is no override.
  package func state(at now: Double) -> State {
    let path = folder.path.appending(Self.name)
    guard pathExists(path) else { return .none }
    do {
      let bytes = try InputFile(OwnedFile(path).path).contents(limit: URLOverride.byteCountLimit)
      let override = try URLOverride(decoding: bytes)
      return override.isActive(at: now) ? .active(override) : .ended(override)
    } catch URLOverride.Fault.newer {
      return .refused(error("was written by a later version of PackStore", "update PackStore"))
    } catch let error as ManagedPacksError {
      return .refused(
        ManagedPacksError(.override, "the override does not count: \(error.reason)", remedy: error.remedy))
    } catch let error as PackStoreError where error.code == .notFound {
      return .none
    } catch let error as PackStoreError where error.code != .corrupt {
      return .refused(self.error("cannot be read (\(error.finding))", "see who may read it"))
    } catch {
      return .refused(self.error("is damaged", "call packstore url-override clear"))
    }
  }

  private func error(_ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.override, "the override '\(folder.path.appending(Self.name))' \(fault)", remedy: remedy)
  }

  /// Takes the place of the one before. Running managers notice it when they next ask a site.
  package func set(_ override: URLOverride) throws {
    let draft = FilePlace("\(Self.name).draft", in: folder.path)
    let file = try NewFile(draft, isSecret: true)
    try file.write(override.encode())
    try file.sync()
    try renameFile(draft, to: FilePlace(Self.name, in: folder.path))
    try syncFolder(folder.path)
  }

  /// Ends the override, and removes what came by it where no process uses it.
  ///
  /// - Returns: false: there was none.
  @discardableResult
  package func clear() throws -> Bool {
    let wasThere = pathExists(folder.path.appending(Self.name))
    try removeFile(FilePlace(Self.name, in: folder.path))
    try syncFolder(folder.path)
    sweep(keeping: nil)
    return wasThere
  }

  /// Removes what came by overrides that do not count any more, and that no process uses.
  package func sweep(keeping kept: URLOverride?) {
    let parent = folder.overrides
    for name in (try? namesInFolder(parent)) ?? [] where name != kept?.folderName {
      let path = parent.appending(name)
      guard isFolder(path), !OverrideUse.isUsed(path) else { continue }
      removeTree(path)
    }
  }
}

/// Keeps the folder of an override from being removed, as long as it lives.
final class OverrideUse: Sendable {
  private static let prefix = "use-"
  private let lock: FileLock
  private let place: FilePlace

  init(of folder: FilePath) throws {
    place = FilePlace("\(Self.prefix)\(UInt64.random(in: 0 ... .max)).lock", in: folder)
    lock = try FileLock(place, waits: true, reason: "another process looks whether this override is used")
  }

  deinit { try? removeFile(place) }

  static func isUsed(_ folder: FilePath) -> Bool {
    for name in (try? namesInFolder(folder)) ?? [] where name.hasPrefix(prefix) {
      let place = FilePlace(name, in: folder)
      guard (try? FileLock(place, waits: false, reason: "in use")) != nil else { return true }
      try? removeFile(place)
    }
    return false
  }
}
