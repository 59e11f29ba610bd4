import ArgumentParser
import ManagedPacks

/// Options for the limits of an app's extension.
struct ExtensionOptions: ParsableArguments {
  @Option(help: .init("Time that an extension may run per day, in seconds.", valueName: "seconds"))
  var extensionTime = 180

  @Option(
    help: .init("Memory that an extension may use, such as 100M (default: 64 MiB).", valueName: "bytes"),
    transform: parseByteCount)
  var extensionMemory = 64 << 20

  func validate() throws {
    guard (0...86_400).contains(extensionTime) else {
      throw ValidationError("--extension-time must be from 0 to 86400, not \(extensionTime)")
    }
  }
}
