import CPackStore

/// The attributes of the version that an installation creates, from its options and the attributes of the pack's current version.
struct VersionStatement {
  /// `nil`: the attributes of the current version.
  let attributes: Attributes?

  /// Used instead of the current version's attributes if the content differs: a label and a note apply to one version only.
  let changedAttributes: Attributes?

  /// Whether the label is the current version's, so that the content must be equal.
  let isOfCurrentVersion: Bool

  let mappedPaths: [String]
  let placement: Placement?
}

extension VersionStatement {
  /// - Parameters:
  ///   - current: the attributes of the pack's current version; `nil` if the pack does not exist.
  ///   - others: the other kept versions. Called if a label must differ from theirs.
  /// - Throws: `exists` for a label of another version.
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
