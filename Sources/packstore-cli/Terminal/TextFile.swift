import ArgumentParser
import PackAuthoring
import PackStore

/// Options of commands that print a text or write it to a file.
struct TextFileOptions: ParsableArguments {
  @Option(
    name: [.short, .long, .customLong("output-path")],
    help: .init("File to write (default: standard output).", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: .replacesFile)
  var force = false

  @Flag(help: "Print the text without writing the file.")
  var dryRun = false

  /// The file to write; `nil` if the text is printed.
  var written: String? { dryRun ? nil : output }

  func validate() throws {
    guard output != nil || !dryRun else { throw ValidationError("--dry-run needs '-o'") }
    guard output != nil || !force else { throw ValidationError("--force needs '-o'") }
  }

  /// Writes the file atomically if `-o` is set. With `--dry-run`, only checks the file.
  ///
  /// - Parameter source: the command's input file, which must not be replaced.
  func write(_ text: String, madeOf source: String? = nil) throws {
    guard let output else { return }
    if force, let source, isSameFile(source, output) {
      throw Failure(
        .usage, "'\(escaped(output))': the input file, which would be lost", remedy: "name another file",
        path: output)
    }
    if dryRun { _ = try outputFile(output, force: force) } else { try writeTextFile(text, to: output, force: force) }
  }
}

/// Writes a file atomically.
func writeTextFile(_ text: String, to output: String, force: Bool) throws {
  let file = FilePlace(FilePath(try outputFile(output, force: force)))
  let draft = FilePlace(draftPath(nextTo: file.path, ending: ".draft"))
  do {
    let new = try NewFile(draft)
    try new.write(Array(text.utf8))
    try new.sync()
    try place(draft, at: file, replacing: force)
    try? removeFile(draft)
  } catch {
    try? removeFile(draft)
    if let error = error as? PackStoreError, error.code == .exists { throw existsAlready(output) }
    throw error
  }
}
