import Foundation
import Testing

@testable import PackAuthoring
import PackFormats
@testable import PackStore

/// A site as a client sees it, read from its files alone.
struct RemoteSiteCopy {
  let root: SiteRoot
  let publicKey: SitePublicKey

  /// All that the root leads to, without itself, and the files of versions that are kept.
  let files: [String]

  /// Numbers of the versions of each pack in the root: first the offered ones, then the other kept ones.
  private(set) var versions: [String: [UInt64]] = [:]

  /// Checks that all files named by the root exist and are as the root describes, with their frames. The site's own
  /// folders contain nothing else except retired files and files of other channels.
  init(
    _ folder: TemporaryFolder, _ site: String = "site", channel: SiteChannel = .live, exactly: Bool = true
  ) throws {
    func bytes(_ path: SitePath) throws -> [UInt8] {
      Array(try #require(FileManager.default.contents(atPath: folder.path("\(site)/\(path)")), "\(path) is missing"))
    }
    let signed = try SignedSiteRoot(decoding: try bytes(.root(channel)), file: "root")
    root = signed.root
    publicKey = try #require(signed.rootKey)
    var named: Set<SitePath> = []
    for sheet in root.sheets {
      let attributes = try sheet.open(try bytes(.sheet(sheet.digest)))
      for digest in attributes.digests { #expect(try attributes.attributes(digest) != nil) }
      named.insert(.sheet(sheet.digest))
    }
    for pack in root.packs {
      for offer in pack.offers {
        named.insert(.version(offer.manifest))
        let manifest = try offer.openManifest(try bytes(.version(offer.manifest)), of: pack.id)
        for list in manifest.changeLists where named.insert(.changes(list.digest)).inserted {
          let listed = try bytes(.changes(list.digest))
          #expect(Digest256(hashing: listed) == list.digest && listed.count == Int(list.byteCount))
        }
        for segment in manifest.segments where named.insert(.segment(segment.id)).inserted {
          named.insert(.frames(segment.id))
          let table = try bytes(.frames(segment.id)), file = try bytes(.segment(segment.id))
          #expect(Digest256(hashing: table) == segment.table && table.count == Int(segment.tableByteCount))
          #expect(file.count == Int(segment.byteCount))
          try Self.check(table, file, segment)
        }
      }
      for delta in pack.deltas { named.insert(.delta(delta.header)) }
    }
    versions = Dictionary(uniqueKeysWithValues: root.packs.map { ($0.id.name, $0.offers.map(\.number)) })
    guard exactly else {
      files = named.map(\.description)
      return
    }
    let snapshot = try Store(at: FilePath(folder.path(site)), options: .readOnly).makeSnapshot()
    for pack in root.packs {
      let kept = snapshot.versions(of: pack.id).map(\.number)
      #expect(Set(kept).isSuperset(of: pack.offers.map(\.number)))
      versions[pack.id.name]! += kept.filter { !pack.offers.map(\.number).contains($0) }
    }
    let siteFolder = SiteFolder(path: FilePath(folder.path(site)))
    let known = ManifestIndex(in: siteFolder)
    for version in snapshot.keptVersions { #expect(known.manifest(of: version) != nil, "\(version) is not described") }
    named.formUnion(try known.files(of: snapshot.keptVersions).keys)
    for other in try siteFolder.channels() where other != channel {
      named.formUnion(try #require(try siteFolder.readRoot(of: other)?.root).files(in: siteFolder).keys)
    }
    files = named.map(\.description)
    let own = folder.files(site).keys.filter { name in
      SitePath.folders.contains { name.hasPrefix($0 + "/") } && SitePath(name)?.isRecord != true
    }
    let segments = named.filter { if case .segment = $0 { true } else { false } }
    let retired = try siteFolder.readRetired().entries.keys.filter { !$0.isSegment }
    #expect(Set(own) == Set(named.subtracting(segments).union(retired).map(\.description)))
    #expect(named.isDisjoint(with: retired))
  }

  /// Checks that every frame of the table is in the segment.
  private static func check(_ table: [UInt8], _ file: [UInt8], _ segment: VersionManifest.Segment) throws {
    var reader = ByteReader(table[...], file: "table")
    try reader.header("PKSFRAM0")
    #expect(try reader.integer(UInt32.self) == UInt32(segment.kind.rawValue))
    #expect(try reader.id128() == segment.id.id)
    #expect(try reader.integer(UInt64.self) == segment.byteCount)
    let frameCount = try reader.integer(UInt32.self)
    try reader.reserved()
    for _ in 0..<frameCount {
      let offset = Int(try reader.integer(UInt64.self) & (1 << 56 - 1))
      let length = Int(try reader.integer(UInt32.self))
      _ = try reader.integer(UInt32.self)
      let digest = try reader.digest()
      #expect(Digest256(hashing: Array(file[offset..<offset + length])) == digest)
    }
  }

}

/// The files of a pack as a store shows them.
func contents(of pack: PackID, in store: Store) throws -> [String: Data] {
  try store.read { snapshot in
    var files: [String: Data] = [:]
    for entry in try snapshot.entries(in: "", pack: pack, depth: .descendants) where entry.kind == .file {
      files[entry.path] = try snapshot.contents(of: entry.path, pack: pack)
    }
    return files
  }
}

/// Whether `body` ends with `CancellationError`.
func isCancelled(_ body: () async throws -> Void) async -> Bool {
  do {
    try await body()
    return false
  } catch { return error is CancellationError }
}

/// The code of the error that `body` throws.
func failure(_ body: () async throws -> Void) async -> PackStoreError.Code? {
  do {
    try await body()
    return nil
  } catch { return (error as? PackStoreError)?.code }
}
