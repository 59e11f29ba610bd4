/// Writes a warning to standard error, after the program's name. Failures to write are ignored.
func warn(_ text: String) { _ = try? FileDescriptor.standardError.writeAll("\(programName()): \(text)\n".utf8) }
