extension CommandLineTool {
  /// The archive that everybody can open.
  static let zip = {
    let (zip, unzip) = (Program("zip"), Program("unzip"))
    return CommandLineTool(
      name: "zip", programs: [zip, unzip],
      note: "Info-ZIP, deflate level 6; CRC-32, verified; not synced; one thread",
      store: { call in try zip.run(["-q", "-r", "-6", "-X", call.workspace + "/archive.zip", "."], in: call.folder) },
      extract: { call, target in try unzip.run(["-q", "-o", call.workspace + "/archive.zip", "-d", target]) })
  }()
}
