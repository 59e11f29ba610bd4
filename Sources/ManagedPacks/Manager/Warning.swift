/// Tells people on standard error, after the name of the program. A warning that cannot be written is lost.
func warn(_ text: String) { _ = try? FileDescriptor.standardError.writeAll("\(programName()): \(text)\n".utf8) }
