extension DeltaFile {
  /// Whose delta to apply.
  ///
  /// Whatever it holds, what comes of it has the content that its header names, or nothing does. A signature says who
  /// vouches for that content.
  public enum Trust: Hashable, Sendable {
    /// What the pack's own publisher signed: the core refuses all others, and a pack that is new here takes any.
    case packOrigin

    /// What the owner of this key signed.
    case key(SitePublicKey)

    /// What is not signed, too: the caller knows where the file comes from. Then it is of the unsigned origin.
    case anyone
  }
}
