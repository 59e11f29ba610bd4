/// The events that apply policies.
public enum BAContentRequest: Int, CaseIterable, Sendable {
  /// The app was installed for the first time.
  case install = 1
  /// The app was updated to another version.
  case update = 2
  /// A periodic check is due.
  case periodic = 3
  /// The user prefers another language.
  case languageChange = 4
}
