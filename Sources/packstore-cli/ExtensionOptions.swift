import ArgumentParser
import ManagedPacks

/// What an app's extension may take.
struct ExtensionOptions: ParsableArguments {
  @Option(help: .init("How long an extension may run, in seconds a day.", valueName: "seconds"))
  var extensionTime = 180

  @Option(
    help: .init("How much memory an extension may take; also as 64M.", valueName: "bytes"), transform: parseByteCount)
  var extensionMemory = 64 << 20

  func validate() throws {
    guard (0...86_400).contains(extensionTime) else {
      throw ValidationError("--extension-time goes from 0 to 86400, not \(extensionTime)")
    }
  }
}
