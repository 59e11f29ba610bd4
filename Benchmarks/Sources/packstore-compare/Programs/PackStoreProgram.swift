extension CommandLineTool {
  /// PackStore as the others here are called: by a process that begins with nothing.
  static let packStore = {
    let packstore = Program("packstore")
    return CommandLineTool(
      name: "PackStore, program", programs: [packstore],
      note:
        "the program: add, then extract; level 3, frames of 128 KiB; checksums verified; a durable commit; extracted "
        + "files are not synced",
      store: { call in
        try packstore.run(["add", call.workspace + "/store", call.folder, "--pack", "Benchmark", "--quiet"])
      },
      extract: { call, target in try packstore.run(["extract", call.workspace + "/store", target, "--quiet"]) })
  }()
}
