import PackFormats

#if Serving
  import PackAuthoring
  public import PackStore

  /// A source to serve, as the user specified it.
  public struct ServedSource: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      /// An archive of one version of a pack.
      case archive
      /// An asset pack in Apple's format, which is served unchanged and is not part of a site.
      case assetPack
      /// A store: the current versions of its packs.
      case store
      /// A site, which is served unchanged.
      case site
    }

    public let path: FilePath
    public let kind: Kind

    /// The version of an archive that contains none; `nil`: 1.
    public let version: UInt64?

    /// Determines the kind of the source at a path.
    ///
    /// - Parameter version: the version of an asset pack in Apple's format.
    /// - Throws: `notFound` if nothing exists at the path; `notAStore` for another folder; `wrongKind` for a delta;
    ///   `invalidArgument` for a version of a store or site.
    public init(_ path: FilePath, version: UInt64? = nil) throws {
      self.path = path
      self.version = version
      guard version == nil || !isFolder(path) else {
        throw PackStoreError(.invalidArgument, "only archives can be given a version", file: path.string)
      }
      if isFolder(path) {
        kind = Site.exists(at: path) ? .site : .store
        guard kind == .site || pathExists(path.appending("CONTROL")) else {
          var error = PackStoreError(.notAStore, "neither a store nor a site", about: .folder(path.string))
          error.specificRemedy = "name a store, a site or an archive created by 'packstore package'"
          throw error
        }
        return
      }
      switch PackFileKind(path) {
      case nil: throw PackStoreError(.notFound, "not an archive, a store or a site", file: path.string)
      case .archive: kind = .archive
      case .other: kind = .assetPack
      case .delta:
        var error = PackStoreError(.wrongKind, "a delta, not an archive", file: path.string)
        error.specificRemedy = "name the site that contains the delta"
        throw error
      }
    }

    /// Returns the state of the file that changes with the content.
    func state() throws -> FileState {
      switch kind {
      case .archive, .assetPack: try InputFile(path).state
      case .store: try InputFile("CONTROL", in: path).state
      case .site: try InputFile("root", in: path).state
      }
    }
  }
#endif
