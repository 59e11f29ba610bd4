extension CommandLineTool {
  /// The image that others mount, unpacked.
  static let unsquashfs = {
    let unsquashfs = Program("unsquashfs")
    return CommandLineTool(
      name: "unsquashfs", sharedForm: ImageFormat.squashfs.name, programs: [ImageFormat.squashfs.maker, unsquashfs],
      note: "the image of \(ImageFormat.squashfs.name), unpacked by as many threads as there are processors",
      abilities: .extract,
      store: { call in
        let image = ImageFormat.file(in: call.workspace)
        try ImageFormat.squashfs.maker.run(ImageFormat.squashfs.arguments(call.folder, image, call.threadCount))
      },
      extract: { call, target in
        // It reports an error if the folder exists, unless it may overwrite.
        try unsquashfs.run([
          "-quiet", "-no-progress", "-force", "-dest", target, ImageFormat.file(in: call.workspace),
        ])
      })
  }()
}
