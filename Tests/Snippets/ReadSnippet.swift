// Reading: bytes, a descriptor, a URL; and removing a pack that is not needed any more.

import BackgroundAssets

/// A film from any pack that has it.
func film() throws -> Data {
  try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v")
}

/// The same of one pack, as a copy in memory.
func film(inPack name: String) throws -> Data {
  try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v", searchingInAssetPackWithID: name, options: [])
}

/// Its first bytes, by the system's calls.
func beginningOfFilm() throws -> [UInt8] {
  let videoDescriptor = try AssetPackManager.shared.descriptor(
    for: "Videos/Introduction.m4v", searchingInAssetPackWithID: nil)
  defer {
    do {
      try videoDescriptor.close()
    } catch {
      print("The film cannot be closed: \(error)")
    }
  }
  return try [UInt8](unsafeUninitializedCapacity: 4) { buffer, count in
    count = try videoDescriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
  }
}

/// The names of all films, in a folder that programs can open.
func folderOfFilms() throws -> URL { try AssetPackManager.shared.url(for: "Videos") }

/// Returns the size of the tutorial, and removes it when it is finished.
func finishTutorial() async throws -> Int64 {
  let name = "Tutorial"
  let version = try AssetPackManager.shared.localVersion(ofAssetPackWithID: name)
  let size = try await AssetPackManager.shared.localSize(ofAssetPackWithID: name, calculationMethod: .logical)
  try await AssetPackManager.shared.remove(assetPackWithID: name)
  return version > 0 ? size : 0
}
