import PackFormats

/// A release of several packs, as JSON has it.
struct ReleaseReport: Encodable {
  let id: String
  let name: String?

  init(_ release: PackRelease) {
    id = release.id.description
    name = release.name?.text
  }
}
