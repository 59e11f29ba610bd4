/// Where commands work that are only to say what they would do: nothing that was named changes, and it need not be writable.

import PackAuthoring
import PackDelivery
import PackFormats
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
/// - If no store exists yet, an empty store in a temporary folder.
/// - One that can be written to itself: what is staged there is dropped, and what an interrupted pull left counts.
/// - Otherwise a store in a temporary folder, with the given store as its base and with its packs.
struct DryRunStore {
  let store: Store

  /// Packs that are held since a rollback, which a store over another one does not know; empty where that need not be said.
  let heldPacks: Set<PackID>

  /// The device that the store is, if it has drawn an id; nil where that need not be said.
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

  /// The same pull, by the device that the store is.
  func apply(to options: Store.PullOptions) -> Store.PullOptions {
    var options = options
    options.heldPacks = heldPacks
    options.device = options.device ?? device
    return options
  }
}

/// The site's folder that a dry run works with: itself, an empty one where there is none yet, or where nothing can be written a
/// copy without frames.
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

/// What a dry run stages among temporary files may take so much; where there is less, it works elsewhere.
let roomForDryRuns: UInt64 = 64 << 20

/// Whether a folder can be written to, on a disk that is not full.
private func hasRoom(_ name: String) -> Bool {
  access(name, W_OK | X_OK) == 0 && freeByteCount(name) >= roomForDryRuns
}

/// Whether the disk of a folder can hold one more file; also if that cannot be found out, or the disk has no such limit.
func hasFreeFiles(_ name: String) -> Bool {
  var info = statvfs()
  guard statvfs(name, &info) == 0 else { return true }
  return info.f_files == 0 || info.f_favail > 0
}

/// Free bytes for this user on the disk of a folder; 0 if they are unknown.
func freeByteCount(_ name: String) -> UInt64 {
  var info = statvfs()
  guard statvfs(name, &info) == 0 else { return 0 }
  return UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue
}
