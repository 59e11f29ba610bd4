#if Hosting
  import Foundation
  import PackAuthoring
  import PackStore

  /// Proves a delta as a device uses it: builds it in a scratch folder, applies it to a store with the old version, and compares the
  /// result. The same versions and level give the same bytes, so the site gets the proven delta.
  struct DeltaProof: Sendable {
    let snapshot: Snapshot
    let from: PackVersion
    let to: PackVersion
    let level: Int32

    /// - Parameter folder: an empty folder, which the caller deletes.
    /// - Returns: the fault of the delta; `nil` if it leads to the new version.
    /// - Throws: faults of the machine.
    func fault(in folder: FilePath) async throws -> String? {
      let file = folder.appending("delta"), store = folder.appending("store")
      do {
        try await BlockingExecutor.run { try build(file) }
        let device = try Store(at: store)
        var copyOptions = Store.CopyOptions()
        copyOptions.isOwn = true
        let options = copyOptions
        try await device.change { _ = try $0.copy(from.pack, version: from.number, from: snapshot, options: options) }
        var applyOptions = Store.ApplyOptions()
        applyOptions.adopts = true
        try await device.apply(delta: file, options: applyOptions)
        let result = try device.makeSnapshot().version(to.number, of: to.pack)
        return result?.catalog == to.catalog ? nil : "the delta leads to other content"
      } catch let error as PackStoreError where !error.isMachineFault {
        return "the delta cannot be applied: \(error.finding)"
      }
    }

    private func build(_ file: FilePath) throws {
      let output = try NewFile(FilePlace(file), isSecret: true)
      _ = try snapshot.buildDelta(of: to.pack, from: from.number, to: to.number, level: level) { offset, bytes in
        try output.write(bytes, at: offset)
      }
      try output.sync()
    }
  }
#endif
