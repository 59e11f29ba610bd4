import ArgumentParser
import PackFormats
import PackStore

/// Whether promoted packs form a release.
struct ReleaseOptions: ParsableArguments {
  @Option(
    help: .init(
      "Name of the release that the packs form: letters, digits, '.', '_', '+' and '-' (default: none).",
      valueName: "name"), transform: parseReleaseName)
  var release: PackReleaseName?

  @Flag(help: "Promote each pack by itself: devices may install one without the others.")
  var separately = false

  /// Whether no option is given.
  var isDefault: Bool { release == nil && !separately }

  func validate() throws {
    guard release == nil || !separately else { throw ValidationError("--release and --separately exclude each other") }
  }

  /// Returns the release of promoted packs; `nil` if each is promoted by itself. One pack forms a release only if it has a name.
  func release(of packCount: Int) -> PackRelease? {
    guard !separately, packCount > 1 || release != nil else { return nil }
    return PackRelease(name: release)
  }
}

@Sendable private func parseReleaseName(_ text: String) throws -> PackReleaseName {
  do { return try PackReleaseName(text) } catch { throw ValidationError("\(error)") }
}
