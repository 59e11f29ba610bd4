#if Hosting
  import PackAuthoring
  import PackFormats
  import PackStore

  /// Acts as a device with an uploaded archive: reads it completely into a store of its own, and verifies it. It needs no key, no
  /// database and no network.
  struct ArchiveCheck: Sendable {
    /// The uploaded file: a `.pack` or an Apple Archive.
    let archive: FilePath

    /// An empty folder. Afterwards `store` in it has exactly the version.
    let output: FilePath

    /// The identifier that the archive must have.
    let pack: PackID

    /// The number that the version gets.
    let number: UInt64

    static let storeName = "store"

    /// Runs on a thread that may block.
    ///
    /// - Throws: faults of the machine. Faults of the archive are in the verdict.
    func run() async throws -> WorkerVerdict {
      do {
        switch PackFileKind(archive) {
        case .archive: return try await importPack()
        case .delta: return .rejected("ARCHIVE_KIND", "The file is a delta; upload the archive of a version.")
        case .other, nil: return try await importAppleArchive()
        }
      } catch let error as PackStoreError where !error.isMachineFault {
        return .rejected("ARCHIVE_INVALID", "The archive is not valid: \(error.finding)")
      }
    }

    private var store: FilePath { output.appending(Self.storeName) }

    /// Copies the version to a site of its own, without checking its publisher, then copies it under the host's number.
    private func importPack() async throws -> WorkerVerdict {
      let work = output.appending("import")
      defer { removeTree(work) }
      let key = SiteKey()
      let site = try Site(at: work)
      let packs = try ArchivedPacks(ofAnyPublisher: archive, signedBy: key)
      try await site.publish(from: .archives(packs), signedBy: key, options: .init(deltaCount: 0))
      let snapshot = try site.store.makeSnapshot()
      guard let found = snapshot.packs.first, snapshot.packs.count == 1 else {
        return .rejected("ARCHIVE_INVALID", "The archive does not contain exactly one pack.")
      }
      guard found.id == pack else { return mismatch(found.id.name) }
      let target = try Store(at: store)
      var options = Store.CopyOptions()
      options.isOwn = true
      options.number = number
      options.priority = found.priority
      let copyOptions = options
      try await target.change { _ = try $0.copy(pack, from: snapshot, options: copyOptions) }
      return try verify(target)
    }

    private func importAppleArchive() async throws -> WorkerVerdict {
      let work = output.appending("import")
      defer { removeTree(work) }
      _ = try makeFolder(work, isSecret: true)
      let foreign = try ForeignArchive(archive, name: "archive")
      guard foreign.format == .appleArchive else {
        return .rejected("ARCHIVE_KIND", "The file is neither a pack archive nor an Apple Archive.")
      }
      let unpacked = try await BlockingExecutor.run { try foreign.unpackForInstall(into: work) }
      guard let manifest = unpacked.manifest else {
        return .rejected("MANIFEST_MISSING", "The archive has no Manifest.json next to the folder Contents.")
      }
      guard manifest.assetPackID == pack.name else { return mismatch(manifest.assetPackID) }
      var options = Store.InstallOptions()
      options.version = number
      options.links = .store
      options.attributes = manifest.attributes
      let target = try Store(at: store), installOptions = options
      try await target.change {
        _ = try $0.install(folder: unpacked.folder, as: pack, options: installOptions)
      }
      var verdict = try verify(target)
      if !manifest.otherKeys.isEmpty {
        verdict.warnings.append(
          StateDetail(
            code: "MANIFEST_KEYS_IGNORED",
            description:
              "These keys of the manifest are ignored: \(manifest.otherKeys.prefix(20).joined(separator: ", "))."))
      }
      return verdict
    }

    private func mismatch(_ found: String) -> WorkerVerdict {
      .rejected(
        "ASSET_PACK_ID_MISMATCH", "The archive belongs to the pack '\(found.prefix(100))' instead of '\(pack)'.")
    }

    private func verify(_ store: Store) throws -> WorkerVerdict {
      guard let version = try store.makeSnapshot().version(number, of: pack), version.fileCount > 0 else {
        return .rejected("ARCHIVE_EMPTY", "The archive contains no assets.")
      }
      return WorkerVerdict()
    }
  }

  extension PackStoreError {
    /// Whether the machine or the host is the cause, so that another attempt may succeed.
    var isMachineFault: Bool {
      switch code {
      case .outOfMemory, .ioError, .noSpace, .busy, .conflict, .forked, .readOnly, .notAStore: true
      default: false
      }
    }
  }
#endif
