extension CommandLineTool {
  static let longtail = {
    let longtail = Program("longtail")
    @Sendable func places(_ call: Call) -> (store: [String], index: String) {
      (["--storage-uri", call.workspace + "/store"], call.workspace + "/index.lvi")
    }
    return CommandLineTool(
      name: "longtail", programs: [longtail],
      note: "\(longtail.version("version")), zstd, blocks of 8 MiB; chunks named by BLAKE3; not synced",
      store: { call in
        let (store, index) = places(call)
        try longtail.run(
          ["upsync", "--source-path", call.folder, "--target-path", index, "--compression-algorithm", "zstd"] + store)
      },
      extract: { call, target in
        let (store, index) = places(call)
        try longtail.run(["downsync", "--source-path", index, "--target-path", target] + store)
      })
  }()
}
