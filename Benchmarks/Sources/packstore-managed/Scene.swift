import Foundation
import ManagedPacks
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

/// Two groups with complete packs: one has a durable and a purgeable pack of many assets, the other's site has very
/// many packs.
struct Scene {
  let calls: [Call]

  init(folder: String, packCount: Int, assetCount: Int) async throws {
    let root = FilePath(folder)
    let few = try await Group(root.appending("few")) { origin in
      for (pack, placement) in [("Durable", Placement.durable), ("Purgeable", .purgeable)] as [(PackID, Placement)] {
        let source = root.appending("source-\(pack)")
        try makeAssets(assetCount, in: source, mark: pack.name)
        var options = Store.InstallOptions()
        options.attributes = try Attributes(placement: placement)
        try await origin.install(folder: source, as: pack, options: options)
      }
    }
    let many = try await Group(root.appending("many")) { origin in
      for number in 0..<packCount {
        let source = root.appending("source-one")
        try? FileManager.default.removeItem(atPath: source.string)
        try makeAssets(1, in: source, mark: "\(number)")
        try await origin.install(folder: source, as: try PackID(validating: "Pack\(number)"))
      }
    }
    let packs = try await few.manager.allAssetPacks
    try await few.manager.ensureLocalAvailability(of: packs)
    calls = try Self.states(few, packs) + Self.manifests(many, packCount)
  }

  private static func states(_ group: Group, _ packs: Set<AssetPack>) throws -> [Call] {
    let manager = group.manager, store = try manager.store
    var calls: [Call] = []
    for pack in packs.sorted(by: { $0.id < $1.id }) {
      let id = try PackID(validating: pack.id), kind = pack.id.lowercased()
      let isHere = "is a \(kind) pack here?"
      calls += [
        Call(
          name: "assetPackIsAvailableLocally", question: isHere, limit: pack.id == "Durable" ? 1e-6 : 5e-6,
          batchCount: 10_000
        ) { try expect(manager.assetPackIsAvailableLocally(withID: pack.id), isHere) },
        Call(name: "Store: snapshot, availability", question: isHere, batchCount: 500) {
          let snapshot = try store.makeSnapshot()
          let here = try snapshot.pack(id).map { try snapshot.availability(of: $0.version).state == .present } ?? false
          try expect(here, isHere)
        },
        Call(name: "localStatus", question: "what is its state, offline? (\(kind))", limit: 50e-6, batchCount: 500) {
          try expect(await manager.localStatus(ofAssetPackWithID: pack.id) == .downloaded, "localStatus")
        },
        Call(
          name: "ensureLocalAvailability", question: "is it here, else fetch it (\(kind))", limit: 200e-6,
          batchCount: 200
        ) { try await manager.ensureLocalAvailability(of: pack) },
      ]
    }
    return calls
  }

  private static func manifests(_ group: Group, _ packCount: Int) throws -> [Call] {
    let manager = group.manager, store = try manager.store, site = group.site
    let question = "what does a site of \(packCount) packs offer?"
    return [
      Call(name: "manifest", question: question, limit: 20e-3, batchCount: 1) {
        try expect(await manager.manifest.assetPacks.count == packCount, question)
      },
      Call(name: "Store.offers", question: question, batchCount: 1) {
        try expect(await store.offers(at: site).packs.count == packCount, question)
      },
    ]
  }
}

/// A site in a folder, and a manager for its packs.
private struct Group {
  let site: String
  let manager: AssetPackManager

  init(_ folder: FilePath, fill: (Store) async throws -> Void) async throws {
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
    let cache = Store.Cache(folder: folder.appending("origin-cache"), byteBudget: 0)
    let origin = try Store(at: folder.appending("origin"), options: Store.Options(cache: cache))
    try await fill(origin)
    let key = SiteKey(), path = folder.appending("site")
    try await Site(at: path).publish(from: origin, signedBy: key)
    site = path.string
    let configuration = try ManagedConfiguration(
      appGroupID: "group.bench", sites: [.init(site, trustedKey: key.publicKey)], appID: "bench",
      groupFolder: folder.appending("group"))
    manager = try AssetPackManager(configuration: configuration)
  }
}

/// Files of some kilobytes that differ by a mark.
private func makeAssets(_ count: Int, in folder: FilePath, mark: String) throws {
  try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
  for number in 0..<count {
    let text = String(repeating: "\(mark), asset \(number). ", count: 200)
    try text.write(toFile: folder.appending("asset-\(number).txt").string, atomically: false, encoding: .utf8)
  }
}
