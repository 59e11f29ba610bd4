// swift-tools-version: 6.2

import PackageDescription

/// An app in a terminal whose assets come as packs. A package of its own, as yours would be: nothing of it is resolved or built
/// where PackStore is embedded.
let package = Package(
  name: "Tour",
  dependencies: [.package(name: "PackStore", path: "../..")],
  targets: [
    .executableTarget(
      name: "tour",
      dependencies: [.product(name: "BackgroundAssets", package: "PackStore")],
      path: "Sources",
      swiftSettings: [.treatAllWarnings(as: .error)])
  ]
)
