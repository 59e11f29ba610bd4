import Foundation

/// A mounted compressed file system in one file: the kernel decodes it, and keeps decoded data in the page cache.
struct MountedImage: Contestant {
  let image: ImageFormat

  var name: String { image.name }
  var form: String? { image.name }
  let abilities: Abilities = [.read, .readRange, .borrow, .contents, .scan, .ingest]

  var note: String {
    "\(image.note); mounted on a loop device; a first read finds the image in the page cache, and nothing decoded there; later "
      + "reads find decoded pages, as of plain files"
  }

  var unavailability: String? { image.maker.unavailability ?? Mount.unavailability }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    try image.make(of: dataSet, in: workspace, threadCount: threadCount)
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    let folder = workspace + "/mount"
    try Mount.shared.mount(ImageFormat.file(in: workspace), image.fileSystem, at: folder)
    return try PlainFiles().open(dataSet, in: folder, threadCount: threadCount)
  }

  func forgetDecoded(_ dataSet: DataSet, in workspace: String) throws {
    try DecodedPages.drop(dataSet, below: workspace + "/mount")
  }

  func release(_ workspace: String) { Mount.shared.unmount(workspace + "/mount") }
}
