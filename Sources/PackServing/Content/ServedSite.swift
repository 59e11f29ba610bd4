import PackFormats

#if Serving
  import PackAuthoring
  import PackServer
  import PackStore
  import Synchronization

  /// A site in a folder, whose files are sent unchanged. Each file has a path that ``SitePath`` permits; links are not followed.
  final class ServedSite: Sendable {
    /// The name in URLs; empty for the site at `/site`.
    let name: String
    let folder: FilePath

    private struct Known {
      var roots: [SiteChannel: (digest: Digest256, channel: Site.ChannelDescription)] = [:]
      /// The versions, by the digests of their manifests.
      var versions: [Digest256: (name: String, wholeByteCount: UInt64)] = [:]
    }
    private let known = Mutex(Known())

    init(_ name: String, in folder: FilePath) {
      self.name = name
      self.folder = folder
    }

    var place: String { name.isEmpty ? "/site" : "/sites/\(name)" }

    /// - Throws: `notFound` if the file does not exist.
    func representation(of path: SitePath, _ status: ServerStatus) throws -> Representation {
      let content = try SiteFile.content(of: path, in: folder, subject: subject(of: path))
      if let root = content.root { learn(root.bytes, root.name) }
      return content.representation
    }

    private func subject(of path: SitePath) -> Subject {
      switch path {
      case .root: return Subject(place: place, kind: .root)
      case .sheet: return Subject(place: place, kind: .attributes)
      case .changes: return Subject(place: place, kind: .changes)
      case .frames: return Subject(place: place, kind: .table)
      case .segment: return Subject(place: place, kind: .segment)
      case .delta: return Subject(place: place, kind: .delta)
      case .record: return Subject(place: place, kind: .history)
      case .version(let digest):
        let version = known.withLock { $0.versions[digest] }
        return Subject(place: place, version: version?.name, kind: .version, wholeByteCount: version?.wholeByteCount)
      }
    }

    /// Returns the channels as of the last reading of their roots. Skips damaged roots.
    func channels() -> [Site.ChannelDescription] {
      known.withLock { $0.roots.sorted { $0.key < $1.key }.map(\.value.channel) }
    }

    /// Reads the roots.
    func look() {
      let names = (try? namesInFolder(FilePlace(SitePath.rootFolder, in: folder))) ?? []
      let paths = ["root"] + names.map { "\(SitePath.rootFolder)/\($0)" }
      for path in paths.compactMap({ SitePath($0) }) {
        guard path.isRoot, let file = try? InputFile(path.description, in: folder),
          let bytes = try? file.contents(limit: SiteRoot.byteCountLimit)
        else { continue }
        learn(bytes, file.place.text)
      }
    }

    private func learn(_ bytes: [UInt8], _ name: String) {
      let digest = Digest256(hashing: bytes)
      guard !known.withLock({ $0.roots.values.contains { $0.digest == digest } }),
        let root = try? SignedSiteRoot(decoding: bytes, file: name).root
      else { return }
      known.withLock { known in
        known.roots[root.channel] = (digest, Site.ChannelDescription(root))
        for pack in root.packs {
          for offer in pack.offers {
            known.versions[offer.manifest] = ("\(pack.id)@\(offer.number)", offer.downloadByteCount)
          }
        }
      }
    }
  }
#endif
