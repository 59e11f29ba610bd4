/// Whose delta to apply.
///
/// Whatever it holds, what comes of it has the content that its header names, or nothing does. A signature says who vouches
/// for that content.
public enum DeltaTrust: Hashable, Sendable {
  /// What the owner of this key signed.
  case key(SitePublicKey)

  /// Anybody's: whoever calls knows where the file comes from.
  case anyone
}
