package import PackAuthoring
package import PackDelivery
package import PackFormats
import PackStore
import Synchronization

/// Checks that files of a site exist with their recorded lengths, without reading them.
package struct ObjectProbe: Sendable {
  /// The access to the files.
  package enum Access: Sendable {
    /// The folder of the site.
    case folder(Site)

    /// An object storage: a list if it is allowed, otherwise one request for the metadata of each object.
    case storage(any ObjectStorage)

    /// A served site: one request for the last byte of each file.
    case source(any SiteSource)
  }

  private let access: Access

  /// Requests in flight.
  private static let parallelCount = 16

  package init(_ access: Access) { self.access = access }

  /// - Parameter progress: receives the number of checked files, on any thread.
  /// - Throws: `unreachable`, `denied`, `badResponse`; `ioError`; `CancellationError`.
  package func check(
    _ files: [SitePath: UInt64], progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Site.Status.ObjectCheck {
    let faults: [Site.ObjectFault]
    switch access {
    case .folder(let site): faults = try site.faults(among: files)
    case .storage(let storage):
      // A list shows a thousand objects in one request. Other objects than it shows are examined one by one.
      let listed = try await storage.list()
      let others = listed.map { listed in files.filter { listed[$0.key.description] != $0.value } } ?? files
      let seenCount = files.count - others.count
      if seenCount > 0 { progress(seenCount) }
      faults = try await findFaults(among: others, { progress(seenCount + $0) }) { path, _ in
        try await storage.examine(.file(path))?.byteCount
      }
    case .source(let source):
      faults = try await findFaults(among: files, progress) { path, byteCount in
        try await Self.hasEnd(path, byteCount, source) ? byteCount : nil
      }
    }
    return .init(checkedCount: files.count, faults: faults)
  }

  private func findFaults(
    among files: [SitePath: UInt64], _ progress: @escaping @Sendable (Int) -> Void,
    _ length: @escaping @Sendable (SitePath, UInt64) async throws -> UInt64?
  ) async throws -> [Site.ObjectFault] {
    let found = FaultList()
    try await forEachInParallel(files, count: Self.parallelCount) { path, byteCount in
      try Task.checkCancellation()
      let present = try await length(path, byteCount)
      let fault =
        present == byteCount
        ? nil : Site.ObjectFault(path: path.description, byteCount: byteCount, foundByteCount: present)
      progress(found.add(fault))
    }
    return found.faults.sorted { $0.path < $1.path }
  }

  /// Whether the last byte of a file can be read, which needs the whole file at a server.
  private static func hasEnd(_ path: SitePath, _ byteCount: UInt64, _ source: any SiteSource) async throws -> Bool {
    guard byteCount > 0 else { return true }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { memory.deallocate() }
    do {
      try await source.read(
        SiteFile(path.description, byteCount: byteCount), at: byteCount - 1, into: TransferBuffer(memory),
        isFresh: false)
      return true
    } catch SourceFault.siteChanged { return false } catch SourceFault.noRanges {
      throw DeliveryError.noRanges(of: source)
    }
  }
}

/// The faults found by parallel requests.
private final class FaultList: Sendable {
  private let state = Mutex<(count: Int, faults: [Site.ObjectFault])>((0, []))

  var faults: [Site.ObjectFault] { state.withLock(\.faults) }

  /// - Returns: the number of checked files.
  func add(_ fault: Site.ObjectFault?) -> Int {
    state.withLock { state in
      state.count += 1
      if let fault { state.faults.append(fault) }
      return state.count
    }
  }
}
