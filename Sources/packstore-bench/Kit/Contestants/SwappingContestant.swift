/// A contestant that can replace some of its assets while it is in use: what the swap workload times.
protocol SwappingContestant: Contestant {
  /// Opens what `prepare` made, and adds the assets of another data set, `pack`, which will be replaced one by one.
  func openForSwaps(of pack: DataSet, in workspace: String, safety: SwapSafety) throws -> any AssetSwapper
}

/// What a swap survives.
enum SwapSafety: String, CaseIterable, Sendable {
  /// A loss of power: nothing is reported done before the disk has it.
  case durable
  /// The end of the process, and no more.
  case atomic
}

/// Replaces assets; used by one thread at a time.
protocol AssetSwapper: AnyObject {
  /// Makes the file at `path` of the pack's folder, whose new bytes are `bytes` too, what everybody reads from now on.
  ///
  /// - Parameter whenStaged: called once, when all that can be prepared is, and what is left is the switch.
  func swap(_ path: AssetPath, _ bytes: UnsafeRawBufferPointer, whenStaged: () -> Void) throws

  /// Gives everything back. Nothing is called afterwards.
  func close()
}
