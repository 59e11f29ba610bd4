// swift-tools-version: 6.2

import PackageDescription

/// PackStore's benchmark with more contestants. A package of its own, so that PackStore never depends on its peers.
///
/// Nothing of them is needed to build it: libraries are loaded, and programs are looked for, when it runs.
let package = Package(
  name: "Peers",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "packstore-peers", targets: ["packstore-peers"])],
  // Nothing is fetched from sites here; so neither HTTP nor TLS is built.
  dependencies: [.package(name: "PackStore", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "packstore-peers",
      dependencies: [.product(name: "BenchmarkKit", package: "PackStore")],
      swiftSettings: [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
      ]
    )
  ]
)
