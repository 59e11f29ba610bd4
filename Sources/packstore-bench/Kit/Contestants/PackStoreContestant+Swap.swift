import Foundation
import PackStore

extension PackStoreContestant: SwappingContestant {
  static let swappedPack = "Swapped"

  func openForSwaps(of pack: DataSet, in workspace: String, safety: SwapSafety) throws -> any AssetSwapper {
    try PackStoreSwapper(Store(at: FilePath(Self.store(in: workspace))), pack, safety)
  }
}

/// Replaces one version of a pack by another.
final class PackStoreSwapper: AssetSwapper {
  let store: Store
  private let folder: String
  private let options: Transaction.Options

  init(_ store: Store, _ pack: DataSet, _ safety: SwapSafety) throws {
    self.store = store
    folder = pack.folder
    options = .init(durability: safety == .durable ? .durable : .atomic)
    try install {}
  }

  func swap(_ path: AssetPath, _ bytes: UnsafeRawBufferPointer, whenStaged: () -> Void) throws {
    try install(whenStaged)
  }

  private func install(_ whenStaged: () -> Void) throws {
    try store.write(options: options) {
      _ = try $0.install(folder: FilePath(folder), as: PackID(validating: PackStoreContestant.swappedPack))
      whenStaged()
    }
  }

  func close() {}
}
