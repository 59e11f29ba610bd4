// swift-tools-version: 6.2

import PackageDescription

/// PackStore compared with other tools, and its settings with each other. A separate package, so that packages that
/// embed PackStore neither resolve nor build any of it.
///
/// Nothing of the others is needed to build it: libraries are loaded, and programs are looked for, when it runs.
let swiftSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "packstore-compare", targets: ["packstore-compare"]),
    .executable(name: "packstore-managed", targets: ["packstore-managed"]),
  ],
  dependencies: [
    // Nothing is fetched from sites in this process; so neither HTTP nor TLS is built.
    .package(name: "PackStore", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "packstore-compare",
      dependencies: [
        .product(name: "PackStore", package: "PackStore"), .product(name: "CPackStore", package: "PackStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings + [.enableExperimentalFeature("Lifetimes")]
    ),
    .executableTarget(
      name: "packstore-managed",
      dependencies: [
        .product(name: "ManagedPacks", package: "PackStore"), .product(name: "PackAuthoring", package: "PackStore"),
        .product(name: "PackDelivery", package: "PackStore"), .product(name: "PackStore", package: "PackStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(name: "CompareTests", dependencies: ["packstore-compare"], swiftSettings: swiftSettings),
  ]
)
