/// A contestant that can replace some of its assets while readers use it, for the swap workload.
protocol SwappingContestant: Contestant {
  /// Opens the result of `prepare`, and adds the assets of another data set, `pack`, which will be replaced one by one.
  func openForSwaps(of pack: DataSet, in workspace: String, safety: SwapSafety) throws -> any AssetSwapper
}

/// The failure that a completed swap survives.
enum SwapSafety: String, CaseIterable, Sendable {
  /// A loss of power: a swap is complete only after the disk has stored it.
  case durable
  /// Only the end of the process.
  case atomic
}

/// Replaces assets; used by one thread at a time.
protocol AssetSwapper: AnyObject {
  /// Makes the changed file at `path` in the pack's folder visible to all new reads. `bytes` are the file's new bytes.
  ///
  /// - Parameter whenStaged: called once, after all preparation and before the switch.
  func swap(_ path: AssetPath, _ bytes: UnsafeRawBufferPointer, whenStaged: () -> Void) throws

  /// Releases all resources. The swapper is not used afterwards.
  func close()
}
