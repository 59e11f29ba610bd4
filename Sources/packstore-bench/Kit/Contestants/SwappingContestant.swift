/// A contestant that can replace some of its assets while it is in use, for the swap workload.
protocol SwappingContestant: Contestant {
  /// Opens the result of `prepare`, and adds the assets of another data set, `pack`, which will be replaced one by one.
  func openForSwaps(of pack: DataSet, in workspace: String, safety: SwapSafety) throws -> any AssetSwapper
}

/// The event that a completed swap survives.
enum SwapSafety: String, CaseIterable, Sendable {
  /// A loss of power: a swap is reported as complete only after the disk has stored it.
  case durable
  /// The end of the process only.
  case atomic
}

/// Replaces assets; used by one thread at a time.
protocol AssetSwapper: AnyObject {
  /// Makes the file at `path` of the pack's folder visible to all new reads. `bytes` are its new bytes.
  ///
  /// - Parameter whenStaged: called once, after all preparation and before the switch.
  func swap(_ path: AssetPath, _ bytes: UnsafeRawBufferPointer, whenStaged: () -> Void) throws

  /// Releases all resources. The swapper is not used afterwards.
  func close()
}
