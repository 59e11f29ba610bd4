import Foundation

/// Prints a line about the current measurement on standard error.
func note(_ text: String) {
  // Ignores a closed pipe: SIGPIPE ends the run.
  try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
}
