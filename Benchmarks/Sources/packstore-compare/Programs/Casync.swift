extension CommandLineTool {
  static let casync = {
    let casync = Program("casync")
    @Sendable func places(_ call: Call) -> (store: String, index: String) {
      ("--store=\(call.workspace)/store.castr", "\(call.workspace)/index.caidx")
    }
    return CommandLineTool(
      name: "casync", programs: [casync],
      note:
        "\(casync.version("--version")), zstd, chunks of 64 KiB in the mean, a file each; chunks named by SHA-256 or SHA-512/256 and "
        + "verified; not synced",
      store: { call in
        let (store, index) = places(call)
        try casync.run(["make", "--compression=zstd", store, index, call.folder])
      },
      extract: { call, target in
        let (store, index) = places(call)
        try casync.run(["extract", store, index, target])
      })
  }()
}
