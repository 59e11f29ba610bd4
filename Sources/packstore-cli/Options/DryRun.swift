/// Working copies for `--dry-run`: the named store or site is not changed and need not be writable.

import PackAuthoring
import PackDelivery
import PackFormats
import PackPublishing
import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The store that a dry run works with.
///
/// - If no store exists yet: an empty store in a temporary folder.
/// - If the store is writable and its disk has enough space: the store itself. Staged data is discarded. Data that an interrupted
///   pull left in the store is used.
/// - Otherwise: a store in a temporary folder, with the given store as its base.
struct DryRunStore {
  let store: Store

  /// The held packs of the given store if it serves as a base: a store does not inherit holds from its base. Otherwise empty.
  let heldPacks: Set<PackID>

  /// The given store's device id if it serves as a base; `nil` if it has no id yet, or if the dry run uses the store itself.
  let device: DeviceID?

  private let temporary: TemporaryFolder?

  init(_ named: StoreArgument, options: Store.Options) throws {
    guard !isVacant(named.store) else {
      temporary = try TemporaryFolder(room: roomForDryRuns)
      (heldPacks, device) = ([], nil)
      store = try Self.make(temporary) { path in
        guard let base = named.base else { return try Store(at: path, options: .createIfMissing) }
        return try Store(at: path, base: FilePath(base))
      }
      return
    }
    guard !hasRoom(named.store) else {
      temporary = nil
      (heldPacks, device) = ([], nil)
      store = try named.open(options)
      return
    }
    guard named.base == nil else {
      throw Failure(
        .readOnly,
        "'\(escaped(named.store))': not writable, which a dry run over a base store needs",
        path: named.store)
    }
    let real = try named.openForReading()
    heldPacks = Set(try real.makeSnapshot().packs.filter(\.isHeld).map(\.id))
    device = try DeviceFile(inStore: real.path).read()
    temporary = try TemporaryFolder(room: roomForDryRuns)
    store = try Self.make(temporary) { path in
      let store = try Store(at: path, base: real.path)
      try TrustFile(inStore: real.path).copy(toStore: path)
      return store
    }
  }

  private static func make(_ temporary: TemporaryFolder?, _ body: (FilePath) throws -> Store) throws -> Store {
    do {
      return try body(FilePath("\(temporary?.path ?? "")/store"))
    } catch {
      temporary?.remove()
      throw error
    }
  }

  func end() { temporary?.remove() }

  /// Returns the options with the held packs and the device id of the given store.
  func apply(to options: Store.PullOptions) -> Store.PullOptions {
    var options = options
    options.heldPacks = heldPacks
    options.device = options.device ?? device
    return options
  }
}

/// The site's folder that a command works with.
///
/// - Without `--dry-run`, or if the folder is writable and its disk has enough space: the site itself.
/// - If no site exists yet: a new path in a temporary folder.
/// - Otherwise: a copy without frames in a temporary folder.
struct DryRunSite {
  let path: String
  private let temporary: TemporaryFolder?

  init(_ name: String, dryRun: Bool) async throws {
    guard dryRun, isVacant(name) || (Site.exists(at: FilePath(name)) && !hasRoom(name)) else {
      (path, temporary) = (name, nil)
      return
    }
    let folder = try TemporaryFolder(room: roomForDryRuns)
    (path, temporary) = ("\(folder.path)/store", folder)
    guard !isVacant(name) else { return }
    do {
      _ = try await Site.strip(FilePath(name), to: FilePath(path))
    } catch {
      folder.remove()
      throw error
    }
  }

  func end() { temporary?.remove() }
}

/// The free space that a dry run needs for staged files, in bytes. With less, it works in another folder.
let roomForDryRuns: UInt64 = 64 << 20

/// Whether a folder is writable and its disk has enough free space for a dry run.
private func hasRoom(_ name: String) -> Bool {
  access(name, W_OK | X_OK) == 0 && freeByteCount(name) >= roomForDryRuns
}

/// Whether the disk of a folder has a free inode. Also true if the number is unknown, or if the file system has no such limit.
func hasFreeFiles(_ name: String) -> Bool {
  var info = statvfs()
  guard statvfs(name, &info) == 0 else { return true }
  return info.f_files == 0 || info.f_favail > 0
}

/// Returns the number of bytes that this user can still write to the disk of a folder; 0 if it is unknown.
func freeByteCount(_ name: String) -> UInt64 {
  var info = statvfs()
  guard statvfs(name, &info) == 0 else { return 0 }
  return UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue
}
