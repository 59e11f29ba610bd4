/// The files of a group's ``URLOverride``: `override` in its folder, which only its owner can change, and `overrides/` with a
/// folder for each server. Folders that no process uses are removed.
package struct OverrideFile: Sendable {
  private static let name = "override"
  private let folder: GroupFolder

  package init(in folder: GroupFolder) { self.folder = folder }

  /// The state of a group's override.
  package enum State: Hashable, Sendable {
    case none
    case active(URLOverride)
    /// The time of the override is over, or the clock was set back. The file stays until an override is set or cleared.
    case ended(URLOverride)
    /// A file exists but is not applied, for the given reason.
    case refused(ManagedPacksError)

    package var active: URLOverride? { if case .active(let override) = self { override } else { nil } }
  }

  /// Returns the current state. A file that another user may have changed, or that is damaged or of a later version, is not
  /// applied: apps use their real sites.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Complexity: one file system lookup if no override exists.
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
        ManagedPacksError(.override, "the override is ignored: \(error.reason)", remedy: error.remedy))
    } catch let error as PackStoreError where error.code == .notFound {
      return .none
    } catch let error as PackStoreError where error.code != .corrupt {
      return .refused(self.error("cannot be read (\(error.finding))", "let this user read it"))
    } catch {
      return .refused(self.error("is damaged", "run 'packstore url-override clear'"))
    }
  }

  private func error(_ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.override, "the override '\(folder.path.appending(Self.name))' \(fault)", remedy: remedy)
  }

  /// Sets an override in place of the previous one. Running managers apply it before they next contact a site.
  package func set(_ override: URLOverride) throws {
    let draft = FilePlace("\(Self.name).draft", in: folder.path)
    let file = try NewFile(draft, isSecret: true)
    try file.write(override.encode())
    try file.sync()
    try renameFile(draft, to: FilePlace(Self.name, in: folder.path))
    try syncFolder(folder.path)
  }

  /// Removes the override, and the folders of overrides that no process uses.
  ///
  /// - Returns: whether an override existed.
  @discardableResult
  package func clear() throws -> Bool {
    let wasThere = pathExists(folder.path.appending(Self.name))
    try removeFile(FilePlace(Self.name, in: folder.path))
    try syncFolder(folder.path)
    sweep(keeping: nil)
    return wasThere
  }

  /// Removes the folders of former overrides that no process uses.
  package func sweep(keeping kept: URLOverride?) {
    let parent = folder.overrides
    for name in (try? namesInFolder(parent)) ?? [] where name != kept?.folderName {
      let path = parent.appending(name)
      guard isFolder(path), !OverrideUse.isUsed(path) else { continue }
      removeTree(path)
    }
  }
}

/// Prevents the removal of an override's folder while it exists.
final class OverrideUse: Sendable {
  private static let prefix = "use-"
  private let lock: FileLock
  private let place: FilePlace

  init(of folder: FilePath) throws {
    place = FilePlace("\(Self.prefix)\(UInt64.random(in: 0 ... .max)).lock", in: folder)
    lock = try FileLock(place, waits: true, reason: "another process is checking whether this override is in use")
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
