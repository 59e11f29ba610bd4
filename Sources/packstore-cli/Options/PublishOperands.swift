import PackAuthoring
import PackPublishing
import PackStore

/// The operands of `publish`. Swapped operands are reported before the command creates a key or a site.
struct PublishOperands {
  let source: String
  let site: String

  /// Checks the order of the operands.
  ///
  /// - Throws: ``Failure`` `invalidArgument` if the operands are swapped.
  func requireOrder() throws {
    guard isExchanged else { return }
    let names = (source: escaped(source), site: escaped(site))
    throw Failure(
      .invalidArgument,
      "'\(names.site)': \(kindOfSite), but '\(names.source)' is \(kindOfSource), and the source comes first",
      remedy: "write 'packstore publish \(names.site) \(names.source)'", path: site)
  }

  private var isSourceSite: Bool { S3Location.names(source) || Site.exists(at: FilePath(source)) }

  /// Whether the operands are swapped: the second can only be a source, and the first is a site, or a site to create.
  private var isExchanged: Bool {
    guard !S3Location.names(site), isSourceOnly(site) else { return false }
    return isSourceSite || !pathExists(FilePath(source))
  }

  private var kindOfSource: String { isSourceSite ? "a site" : "missing" }
  private var kindOfSite: String { isFolder(FilePath(site)) ? "a store" : "a file to publish" }

  /// Whether the path is a store, a manifest or an archive, and not a site.
  private func isSourceOnly(_ name: String) -> Bool {
    let path = FilePath(name)
    guard isFolder(path) else { return pathExists(path) }
    return !Site.exists(at: path) && pathExists(path.appending("CONTROL"))
  }
}
