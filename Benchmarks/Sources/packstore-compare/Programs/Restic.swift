extension CommandLineTool {
  static let restic = {
    let restic = Program("restic")
    let password = ["RESTIC_PASSWORD": "benchmark"]
    @Sendable func arguments(_ call: Call, _ rest: [String]) -> [String] {
      ["-r", call.workspace + "/repository", "--no-cache", "--quiet"] + rest
    }
    return CommandLineTool(
      name: "restic", programs: [restic],
      note:
        "\(restic.version("version")), compression auto, encrypted, chunks named by SHA-256 and verified; making the repository counts; "
        + "each call derives a key from a password",
      store: { call in
        try restic.run(arguments(call, ["init"]), environment: password)
        try restic.run(arguments(call, ["backup", "."]), in: call.folder, environment: password)
      },
      extract: { call, target in
        try restic.run(arguments(call, ["restore", "latest", "--target", target]), environment: password)
      })
  }()
}
