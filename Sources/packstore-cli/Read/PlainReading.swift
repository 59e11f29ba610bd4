import PackFormats
import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `ls`, `cat` and `stat` of a store without any option, which run without ArgumentParser.
///
/// ArgumentParser inspects types at run time. Each look-up of a conformance searches all conformances of the program, which takes
/// two thirds of the instructions of `cat` for a small asset.
enum PlainReading {
  case assets(store: String, AssetListing)
  case content(AssetContent)
  case statistics(store: String)

  /// `nil` if the words are not such a command, or if its operand is not the folder of a store: ArgumentParser parses them.
  init?(_ words: [String]) {
    guard let name = words.first, !words.contains(where: { $0.hasPrefix("-") }) else { return nil }
    let operands = words.dropFirst()
    guard let store = operands.first, Self.isStore(store) else { return nil }
    switch (name, operands.count) {
    case ("ls", 1...2) where !Self.isSite(store):
      self = .assets(store: store, AssetListing(path: operands.count == 2 ? words[2] : ""))
    case ("cat", 2): self = .content(AssetContent(store: store, path: words[2]))
    case ("stat", 1) where !Self.isSite(store): self = .statistics(store: store)
    default: return nil
    }
  }

  var store: String {
    switch self {
    case .assets(let store, _), .statistics(let store): store
    case .content(let content): content.store
    }
  }

  func run() throws {
    var options = Store.Options.readOnly
    if case .statistics = self { options.usesMappedMode = true }
    let opened = try openStore(at: store, options: options)
    switch self {
    case .assets(_, let listing): try listing.print(opened.makeSnapshot())
    case .content(let content): try content.write(from: opened.makeSnapshot())
    case .statistics: try StatisticsListing().print(opened)
    }
  }

  private static func isStore(_ folder: String) -> Bool {
    !folder.isEmpty && !folder.contains("://") && access("\(folder)/CONTROL", F_OK) == 0
  }

  /// Whether the folder is also a site, which `ls` and `stat` read like a client.
  private static func isSite(_ folder: String) -> Bool { access("\(folder)/\(SitePath.root(.live))", F_OK) == 0 }
}
