import CPackStore

/// Receives the core's callbacks during an installation: the `context` of these callbacks.
struct InstallObserver {
  private static let noticeLimit = 1_000

  let progress: ((Store.InstallProgress) -> Void)?
  private(set) var notices: [Store.InstallNotice] = []

  /// Decides which files are skipped; `nil`: none.
  let ignoring: IgnoreWalk?

  init(progress: ((Store.InstallProgress) -> Void)?, ignoring: IgnoreWalk? = nil) {
    self.progress = progress
    self.ignoring = ignoring
  }

  mutating func note(_ notice: @autoclosure () -> Store.InstallNotice) {
    if notices.count < Self.noticeLimit { notices.append(notice()) }
  }

  /// Adds the refused files to an error.
  func explain(_ error: any Error) -> any Error {
    if let failure = ignoring?.failure { return failure }
    guard var error = error as? PackStoreError, error.code == .refused else { return error }
    error.notices = notices.filter { !$0.kind.isWarning }
    // The error names the one file.
    if error.notices.contains(where: { $0.kind == .secret }) {
      error.specificRemedy = "move the key out of the folder, or exclude it"
    } else if error.notices.isEmpty {
      error.specificRemedy = error.specificRemedy ?? "leave it out"
    }
    return error
  }
}

/// The core's progress callback during an installation, whose `context` is an `InstallObserver`. Stops if the surrounding task is
/// cancelled.
func observeProgress(_ context: UnsafeMutableRawPointer?, _ progress: UnsafePointer<pks_progress>) -> Bool {
  let observer = context!.assumingMemoryBound(to: InstallObserver.self)
  observer.pointee.progress?(Store.InstallProgress(progress.pointee))
  return !Task.isCancelled && observer.pointee.ignoring?.failure == nil
}

/// Calls `body` with the core's add request. Stops if the surrounding task is cancelled.
///
/// - Parameters:
///   - entries: the selected entries of the folder; `nil`: the whole folder.
///   - statement: the attributes of the version.
///   - placement: the placement in those attributes.
func withRequest<Result>(
  _ folder: FilePath, _ entries: [Store.Selection.Entry]?, _ pack: PackID, _ options: Store.InstallOptions,
  _ statement: VersionStatement, _ placement: pks_placement,
  _ observer: inout InstallObserver, _ body: (UnsafePointer<pks_add_request>) -> Result
) -> Result {
  let mappedPaths = options.mappedPaths + statement.mappedPaths
  var request = pks_add_request()
  request.version = options.version ?? 0
  request.downgrade = options.allowsDowngrade
  // Attributes without a priority leave the pack's priority unchanged.
  let stated = statement.attributes.flatMap { $0.priority == 0 ? nil : $0.priority }
  let priority = options.priority ?? stated
  request.set_priority = priority != nil
  request.priority = priority ?? 0
  request.set_attributes = statement.attributes != nil
  request.set_changed_attributes = statement.changedAttributes != nil
  request.only_unchanged = statement.isOfCurrentVersion
  request.placement = placement
  request.adopt = options.adopts
  request.level = options.level ?? 0
  request.layout = options.layout.core
  request.links = options.links.core
  request.unsafe_links = options.followsUnsafeLinks
  request.portable = options.isPortable
  request.frame_size = options.frameByteCount.map(coreSize) ?? 0
  request.shared_frame_size = options.sharedFrameByteCount.map(coreSize) ?? 0
  request.max_rows = coreRowLimit(options.rowLimit)
  request.progress = observeProgress
  if observer.ignoring != nil {
    request.skip = { context, path, length, isFolder in
      let walk = context!.assumingMemoryBound(to: InstallObserver.self).pointee.ignoring
      return walk?.ignores(String(copying: path, count: length), isFolder: isFolder) ?? false
    }
  }
  request.notice = { context, notice in
    context!.assumingMemoryBound(to: InstallObserver.self).pointee.note(Store.InstallNotice(notice.pointee))
  }
  return withContext(&observer) { context in
    folder.withPlatformString { folder in
      withCStrings([secretKeyLine]) { lines in
        request.refused_first_line = lines[0]
        return pack.name.withCString { pack in
          withCStrings(mappedPaths) { globs in
            withStoredBytes(of: statement) { attributes, changed in
              request.folder = folder
              request.pack = pack
              request.context = context
              request.map_globs = globs.baseAddress
              request.map_glob_count = UInt32(clamping: globs.count)
              request.attributes = attributes.baseAddress.map(UnsafeRawPointer.init)
              request.attribute_byte_count = attributes.count
              request.changed_attributes = changed.baseAddress.map(UnsafeRawPointer.init)
              request.changed_attribute_byte_count = changed.count
              return withProvenance(options.provenance) { provenance in
                request.by = provenance
                guard let entries else { return body(&request) }
                return withEntries(entries) { entries in
                  request.entries = entries.baseAddress
                  request.entry_count = UInt32(clamping: entries.count)
                  return body(&request)
                }
              }
            }
          }
        }
      }
    }
  }
}

/// Calls `body` with the core's array of selected entries.
private func withEntries<Result>(
  _ entries: [Store.Selection.Entry], _ body: (UnsafeBufferPointer<pks_add_entry>) -> Result
) -> Result {
  withCStrings(entries.flatMap { [$0.path, $0.source] }) { texts in
    let core = entries.indices.map { pks_add_entry(path: texts[2 * $0], source: texts[2 * $0 + 1]) }
    return core.withUnsafeBufferPointer { body($0) }
  }
}

private func withStoredBytes<Result>(
  of statement: VersionStatement, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
  withStoredBytes(of: statement.attributes) { attributes in
    withStoredBytes(of: statement.changedAttributes) { body(attributes, $0) }
  }
}

/// Calls `body` with the encoded attributes: no bytes if all are defaults.
func withStoredBytes<Result>(of attributes: Attributes?, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
  guard let attributes, !attributes.isEmpty else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
  return attributes.canonicalBytes.withUnsafeBufferPointer(body)
}

/// Calls `body` with the core's request for new attributes. Stops if the surrounding task is cancelled.
func withRequest<Result>(
  _ attributes: Attributes, _ pack: PackID, _ version: UInt64?, _ adopts: Bool, _ observer: inout InstallObserver,
  _ body: (UnsafePointer<pks_attributes_request>) -> Result
) -> Result {
  var request = pks_attributes_request()
  request.version = version ?? 0
  request.adopt = adopts
  request.progress = observeProgress
  return withContext(&observer) { context in
    pack.name.withCString { pack in
      withCStrings(attributes.mappedPaths) { globs in
        withStoredBytes(of: attributes) { bytes in
          request.pack = pack
          request.context = context
          request.map_globs = globs.baseAddress
          request.map_glob_count = UInt32(clamping: globs.count)
          request.attributes = bytes.baseAddress.map(UnsafeRawPointer.init)
          request.attribute_byte_count = bytes.count
          return body(&request)
        }
      }
    }
  }
}

/// Calls `body` with the core's copy request. Stops if the surrounding task is cancelled.
func withRequest<Result>(
  _ pack: PackID, _ version: UInt64?, _ source: OpaquePointer, _ options: Store.CopyOptions,
  _ placement: pks_placement, _ observer: inout InstallObserver, _ body: (UnsafePointer<pks_copy_request>) -> Result
) -> Result {
  var request = pks_copy_request()
  request.source = source
  request.placement = placement
  request.adopt = options.adopts
  request.downgrade = options.allowsDowngrade
  request.as_local = options.isOwn
  request.heals = options.heals
  request.version = version ?? 0
  request.number = options.number ?? 0
  request.set_priority = options.priority != nil
  request.priority = options.priority ?? 0
  request.level = options.level ?? 0
  request.layout = options.layout.core
  request.progress = observeProgress
  return withContext(&observer) { context in
    pack.name.withCString { pack in
      options.avoidedSegments.flatMap(\.id.bytes).withUnsafeBufferPointer { avoided in
        request.pack = pack
        request.avoided_segments = avoided.baseAddress
        request.avoided_segment_count = UInt32(clamping: options.avoidedSegments.count)
        request.context = context
        return body(&request)
      }
    }
  }
}

/// Calls `body` with texts as C strings, each up to its first NUL.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>>) -> Result
) -> Result {
  let characters = texts.flatMap(\.utf8CString)
  return characters.withUnsafeBufferPointer { characters in
    guard var begin = characters.baseAddress else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
    let pointers = texts.map { text in
      defer { begin += text.utf8CString.count }
      return begin
    }
    return pointers.withUnsafeBufferPointer(body)
  }
}

private func withProvenance<Result>(
  _ provenance: Provenance?, _ body: (UnsafePointer<pks_provenance>?) -> Result
) -> Result {
  guard var core = provenance?.core else { return body(nil) }
  return withUnsafePointer(to: &core, body)
}
