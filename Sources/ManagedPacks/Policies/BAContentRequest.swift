/// What happened, so that policies are to be applied.
public enum BAContentRequest: Int, CaseIterable, Sendable {
  /// The app was installed, and was not here before.
  case install = 1
  /// The app, which was here, is another version now.
  case update = 2
  /// Time went by.
  case periodic = 3
  /// The user prefers another language.
  case languageChange = 4
}
