import Foundation

/// Says on the standard error what is being measured.
func note(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
