// swift-tools-version: 6.2

import PackageDescription

/// Another team's package, which embeds PackStore and nothing else. `run` builds it and looks at what had to be resolved for it:
/// without the trait `Delivery` that is nothing for HTTP or TLS.
let package = Package(
  name: "Embedding",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "embedding", targets: ["Embedding"])],
  dependencies: [.package(name: "PackStore", path: "../..", traits: [])],
  targets: [
    .executableTarget(name: "Embedding", dependencies: [.product(name: "PackStore", package: "PackStore")]),
    .misuse("KeptSpan"),
    .misuse("SecondCommit"),
    .misuse("RuntimeName"),
  ]
)

extension Target {
  /// A use of PackStore that must not compile.
  static func misuse(_ name: String) -> Target {
    .target(name: name, dependencies: [.product(name: "PackStore", package: "PackStore")], path: "Misuse/\(name)")
  }
}
