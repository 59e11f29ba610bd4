import CPackStore

/// What the version that an installation makes is to say besides its content: by its options, and by what the pack's current
/// version says.
struct VersionStatement {
  /// Nil: what the current version says.
  let attributes: Attributes?

  /// Instead of what the current version says, where the content is another: a label and a note are said of one version.
  let changedAttributes: Attributes?

  /// The label is the current version's, so that this has to be its content.
  let isOfCurrentVersion: Bool

  let mappedPaths: [String]
  let placement: Placement?
}

extension VersionStatement {
  /// - Parameters:
  ///   - current: what the pack's current version says; nil: there is none.
  ///   - others: the other kept versions. Asked where a label has to differ from theirs.
  /// - Throws: `exists` for a label that another version has.
  init(
    _ options: Store.InstallOptions, current: Attributes?,
    others: () throws -> [(version: PackVersion, attributes: Attributes)]
  ) throws {
    let note = options.publishesNote ? options.note : nil
    guard options.attributes != nil || options.label != nil || note != nil else {
      attributes = nil
      changedAttributes = try current?.label == nil && current?.note == nil ? nil : current?.labeled(nil)
      isOfCurrentVersion = false
      (mappedPaths, placement) = (current?.mappedPaths ?? [], current?.placement)
      return
    }
    var stated = try options.attributes ?? current ?? Attributes()
    if options.attributes == nil { stated = try stated.labeled(options.label, note: note) }
    if options.label != nil || note != nil {
      stated = try stated.labeled(options.label ?? stated.label, note: note ?? stated.note)
    }
    if let label = stated.label {
      if let taken = try others().first(where: { $0.attributes.label == label }) {
        throw PackStoreError.labelTaken(label, by: taken.version)
      }
    }
    attributes = stated
    changedAttributes = nil
    isOfCurrentVersion = stated.label != nil && stated.label == current?.label
    (mappedPaths, placement) = (stated.mappedPaths, stated.placement)
  }
}

extension PackStoreError {
  /// The label belongs to another version of the pack.
  static func labelTaken(_ label: VersionLabel, by version: PackVersion) -> Self {
    var error = Self(.exists, "the label '\(label)' belongs to version \(version.number)", about: .pack(version.pack))
    error.specificRemedy = "give this version another label"
    return error
  }
}
