import Foundation

/// Says on the standard error what is being measured.
func note(_ text: String) {
  // The reader may have stopped: that ends the run by its signal, not by a trap here.
  try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
}
