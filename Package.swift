// swift-tools-version: 6.2

import PackageDescription

/// Warnings are errors in our own targets, by settings that do not keep the package from being a dependency.
let cSettings: [CSetting] = [
  .treatAllWarnings(as: .error),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("conversion"),
  .enableWarning("sign-conversion"),
  .enableWarning("shadow"),
  .enableWarning("strict-prototypes"),
]

let swiftSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  // Spans that cannot outlive their snapshot.
  .enableExperimentalFeature("Lifetimes"),
]

/// What needs HTTP is guarded by the trait, so that nothing of it is resolved where the trait is off.
let http: [Target.Dependency] = [
  .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Delivery"])),
  .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Delivery"])),
  .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Delivery"])),
  .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Delivery"])),
  .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Delivery"])),
]

/// What the development server needs, guarded in the same way.
let serving: [Target.Dependency] = [
  .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Serving"])),
  .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Serving"])),
  .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Serving"])),
  .product(name: "HummingbirdHTTP2", package: "hummingbird", condition: .when(traits: ["Serving"])),
  .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Serving"])),
  .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Serving"])),
  .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Serving"])),
  .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Serving"])),
  .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Serving"])),
  .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["Serving"])),
  .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["Serving"])),
]

/// The packages that both servers need.
let server: [Target.Dependency] = [
  .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Serving", "Hosting"])),
  .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Serving", "Hosting"])),
  .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Serving", "Hosting"])),
  .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Serving", "Hosting"])),
  .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Serving", "Hosting"])),
  .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Serving", "Hosting"])),
]

/// The packages of the hosting service, guarded in the same way.
let hosting: [Target.Dependency] = [
  .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Hosting"])),
  .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Hosting"])),
  .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Hosting"])),
  .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Hosting"])),
  .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Hosting"])),
  .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Hosting"])),
  .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Hosting"])),
  .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Hosting"])),
  .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Hosting"])),
  .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Hosting"])),
  .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Hosting"])),
  .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Hosting"])),
]

let package = Package(
  name: "PackStore",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "CPackStore", targets: ["CPackStore"]),
    .library(name: "PackStore", targets: ["PackStore"]),
    .library(name: "PackFormats", targets: ["PackFormats"]),
    .library(name: "PackArchives", targets: ["PackArchives"]),
    .library(name: "PackAuthoring", targets: ["PackAuthoring"]),
    .library(name: "PackDelivery", targets: ["PackDelivery"]),
    .library(name: "PackPublishing", targets: ["PackPublishing"]),
    .library(name: "ManagedPacks", targets: ["ManagedPacks"]),
    .library(name: "PackManaged", targets: ["PackManaged"]),
    .executable(name: "packstore", targets: ["packstore-cli"]),
    .executable(name: "packstore-bench", targets: ["packstore-bench"]),
    .executable(name: "packstore-host", targets: ["packstore-host"]),
  ],
  traits: [
    .default(enabledTraits: ["Delivery"]),
    .trait(
      name: "Delivery",
      description:
        "PackDelivery fetches from sites by HTTP, and PackPublishing writes to object storage. Without, both know folders alone."
    ),
    .trait(
      name: "Serving",
      description:
        "PackServing is a server to develop against: 'packstore serve'. Without, the command says that it is not there."
    ),
    .trait(
      name: "Hosting",
      description:
        "PackHosting is the hosting service: 'packstore-host'. Without this trait, the program reports that it is missing."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(name: "CLZMA", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"]), .brew(["xz"])]),
    .target(
      name: "CPackStore",
      dependencies: ["CZstd", "CXXHash"],
      // Files name each other from here: "index/run.h".
      cSettings: cSettings + [.headerSearchPath(".")]
    ),
    // SHA-256, with no dependency but the C library.
    .target(name: "CPackHash", exclude: ["README.md"], cSettings: cSettings),
    .target(
      name: "PackStore",
      dependencies: [
        "CPackStore", "CPackHash", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // The signed files of sites, archives and deltas.
    .target(
      name: "PackFormats",
      dependencies: ["PackStore", "CPackStore", .target(name: "CSodium", condition: .when(platforms: [.linux]))],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // Decoders of other programs' archives, with zlib and liblzma. A package that embeds PackStore alone does not build them.
    .target(
      name: "CPackArchives",
      dependencies: ["CLZMA", "CZlib", "CZstd"],
      exclude: ["README.md"],
      cSettings: cSettings
    ),
    // Readers of these archives, for publishers and for clients of download manifests.
    .target(
      name: "PackArchives",
      dependencies: ["PackStore", "CPackArchives", .product(name: "SystemPackage", package: "swift-system")],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "PackAuthoring",
      dependencies: [
        "PackStore", "PackFormats", "PackArchives", "CPackArchives",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "PackDelivery",
      dependencies: [
        "PackStore", "PackFormats", "CPackStore", .product(name: "SystemPackage", package: "swift-system"),
      ] + http,
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // Sites in object storage: PackAuthoring works on a folder, and this moves what changed to a bucket.
    .target(
      name: "PackPublishing",
      dependencies: [
        "PackStore", "PackFormats", "PackAuthoring", "PackDelivery", "CPackArchives", "CPackHash",
        .product(name: "SystemPackage", package: "swift-system"),
      ] + http,
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // The parts that both servers share. Without the traits Serving and Hosting it is empty.
    .target(
      name: "PackServer",
      dependencies: ["PackStore", "PackFormats", .product(name: "SystemPackage", package: "swift-system")] + server,
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // The server to develop against. Without the trait Serving there is nothing in it.
    .target(
      name: "PackServing",
      dependencies: [
        "PackServer", "PackStore", "PackFormats", "PackAuthoring",
        .product(name: "SystemPackage", package: "swift-system"),
      ] + serving,
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // Landlock and seccomp for the worker of the hosting service.
    .target(name: "CHostSandbox", exclude: ["README.md"], cSettings: cSettings),
    // The hosting service. Without the trait Hosting it is empty.
    .target(
      name: "PackHosting",
      dependencies: [
        "CHostSandbox", "PackStore", "PackFormats", "PackAuthoring", "PackPublishing", "PackServer",
        .product(name: "SystemPackage", package: "swift-system"),
      ] + hosting,
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "packstore-host",
      dependencies: [
        .target(name: "PackHosting", condition: .when(traits: ["Hosting"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // The managed client: policies, downloads, progress and one namespace, over PackDelivery.
    .target(
      name: "ManagedPacks",
      dependencies: [
        "PackStore", "PackFormats", "PackArchives", "PackDelivery",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    // The managed client for C: a header, and Swift that defines its functions.
    .target(name: "CPackManaged", cSettings: cSettings),
    .target(
      name: "PackManaged",
      dependencies: ["CPackManaged", "ManagedPacks", .product(name: "SystemPackage", package: "swift-system")],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "packstore-cli",
      dependencies: [
        "PackStore", "PackFormats", "PackArchives", "PackAuthoring", "PackDelivery", "PackPublishing", "ManagedPacks",
        .target(name: "PackServing", condition: .when(traits: ["Serving"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "packstore-bench",
      dependencies: [
        "PackStore", "CPackHash", "CPackStore", "CZstd", "CXXHash",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["README.md"],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "CPackStoreTesting",
      dependencies: ["CPackStore"],
      path: "Tests/CPackStoreTesting",
      cSettings: cSettings + [.headerSearchPath("../../Sources/CPackStore")]
    ),
    // Started as processes by the suites, and at length by `make torture`.
    .executableTarget(
      name: "packstore-torture",
      dependencies: ["CPackStore", "CPackHash"],
      path: "Tests/Torture",
      cSettings: cSettings + [
        .headerSearchPath("../../Sources/CPackStore"), .define("_GNU_SOURCE", .when(platforms: [.linux])),
      ]
    ),
    .testTarget(
      name: "CPackStoreTests",
      dependencies: ["CPackStore", "CPackHash", "CPackStoreTesting"],
      // For the headers of the core, which CPackStoreTesting shows to Swift.
      cSettings: [.headerSearchPath("../../Sources/CPackStore")],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CPackHashTests",
      dependencies: [
        "CPackHash", .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Serving"])),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PackStoreTests",
      dependencies: ["PackStore", .product(name: "SystemPackage", package: "swift-system")],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PackFormatsTests",
      dependencies: [
        "PackFormats", "PackStore",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Serving"])),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PackAuthoringTests",
      dependencies: [
        "PackAuthoring", "PackArchives", "PackFormats", "PackStore",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PackDeliveryTests",
      dependencies: [
        "PackDelivery", "PackAuthoring", "PackFormats", "PackStore",
        .product(name: "SystemPackage", package: "swift-system"),
      ] + http,
      swiftSettings: swiftSettings
    ),
    // A program in C, which the tests start.
    .executableTarget(
      name: "managed-c", dependencies: ["CPackManaged", "PackManaged"], path: "Tests/ManagedC", cSettings: cSettings),
    .testTarget(
      name: "PackPublishingTests",
      dependencies: [
        "PackPublishing", "PackDelivery", "PackAuthoring", "PackFormats", "PackStore",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Vectors"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "ManagedPacksTests",
      dependencies: [
        "managed-c", "ManagedPacks", "PackDelivery", "PackAuthoring", "PackFormats", "PackStore",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PackServingTests",
      dependencies: [
        "PackServing", "PackServer", "PackAuthoring", "PackFormats", "PackStore",
        .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Serving"])),
      ] + serving,
      swiftSettings: swiftSettings
    ),
    // Tests of the worker start the program. Without the trait Hosting the target is empty.
    .testTarget(
      name: "PackHostingTests",
      dependencies: [
        "CHostSandbox", "PackHosting", "packstore-host", "PackServer", "PackPublishing", "PackDelivery",
        "PackAuthoring", "PackFormats",
        "PackStore",
        .product(name: "SystemPackage", package: "swift-system"),
      ] + hosting,
      swiftSettings: swiftSettings
    ),
    // The API as its users see it: nothing here is `@testable`.
    .testTarget(
      name: "PublicSurfaceTests", dependencies: ["PackStore", "PackFormats", "PackAuthoring", "PackDelivery"],
      swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility")]),
    // `packstore-bench update` runs the program `packstore`.
    .testTarget(name: "BenchTests", dependencies: ["packstore-bench", "packstore-cli"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "packstore-cli", "PackFormats", "PackStore", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings),
  ],
  cLanguageStandard: .c11
)

// The names of Apple's modules, where the system has none of that name.
#if os(Linux)
  let facades = ["BackgroundAssets", "StoreKit", "ExtensionFoundation"]
  package.products += facades.map { .library(name: $0, targets: [$0]) }
  package.targets += facades.map { .target(name: $0, dependencies: ["ManagedPacks"], swiftSettings: swiftSettings) }
  package.targets += [
    // Code as in Apple's documentation, compiled and run: the tests start the program.
    .executableTarget(
      name: "snippet-extension", dependencies: ["BackgroundAssets", "StoreKit", "ExtensionFoundation"],
      path: "Tests/SnippetExtension"),
    .executableTarget(
      name: "snippet-downloads", dependencies: ["BackgroundAssets", "ExtensionFoundation"],
      path: "Tests/SnippetDownloads"),
    .testTarget(
      name: "Snippets",
      dependencies: [
        "BackgroundAssets", "PackAuthoring", "PackFormats", "PackStore", "snippet-extension", "snippet-downloads",
      ],
      path: "Tests/Snippets", exclude: ["AppleNames.txt"]),
  ]
#endif

// `make check` builds the test targets of an area alone: PACKSTORE_TESTS has their names, separated by spaces.
if let names = Context.environment["PACKSTORE_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { $0.type == .test && !names.contains(Substring($0.name)) }
}
