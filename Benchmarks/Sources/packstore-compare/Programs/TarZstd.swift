extension CommandLineTool {
  static let tarZstd = {
    let (tar, zstd) = (Program("tar"), Program("zstd"))
    return CommandLineTool(
      name: "tar, zstd", programs: [tar, zstd],
      note:
        "\(zstd.version("--version")), level 3, one stream; checksum of the whole; not synced; unpacked by one thread of zstd "
        + "next to tar",
      store: { call in
        let compressor = "zstd -3 -T\(call.threadCount) -q"
        try tar.run(["-I", compressor, "-cf", call.workspace + "/archive", "-C", call.folder, "."])
      },
      extract: { call, target in
        try tar.run(["-I", "zstd -q", "-xf", call.workspace + "/archive", "-C", target])
      })
  }()
}
