import Foundation

/// Reports on the standard error the current measurement.
func note(_ text: String) {
  // If the reader has stopped, its signal ends the run, not a trap here.
  try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
}
