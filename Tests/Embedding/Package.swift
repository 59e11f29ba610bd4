// swift-tools-version: 6.2

import PackageDescription

/// Another team's package, which embeds only PackStore, or the managed client above it. `run` builds it and checks the
/// resolved packages: without the traits `Delivery` and `Serving` none is for HTTP or TLS.
let package = Package(
  name: "Embedding",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "embedding", targets: ["Embedding"]), .executable(name: "managed", targets: ["Managed"]),
  ],
  dependencies: [.package(name: "PackStore", path: "../..", traits: [])],
  targets: [
    .executableTarget(name: "Embedding", dependencies: [.product(name: "PackStore", package: "PackStore")]),
    .executableTarget(name: "Managed", dependencies: [.product(name: "ManagedPacks", package: "PackStore")]),
    .misuse("KeptSpan"),
    .misuse("SecondCommit"),
    .misuse("RuntimeName"),
  ]
)

// An app with Apple's own code, over the modules with Apple's names.
#if os(Linux)
  let modules: [Target.Dependency] = ["BackgroundAssets", "ExtensionFoundation", "StoreKit"].map {
    .product(name: $0, package: "PackStore")
  }
  for (product, target) in [("talk", "Talk"), ("talk-extension", "TalkExtension")] {
    package.products.append(.executable(name: product, targets: [target]))
    package.targets.append(.executableTarget(name: target, dependencies: modules))
  }
#endif

extension Target {
  /// A use of PackStore that must not compile.
  static func misuse(_ name: String) -> Target {
    .target(name: name, dependencies: [.product(name: "PackStore", package: "PackStore")], path: "Misuse/\(name)")
  }
}
