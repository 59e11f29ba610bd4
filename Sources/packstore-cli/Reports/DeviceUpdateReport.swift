import PackAuthoring

/// The download size of an update from an offered version to the new version, for JSON.
struct DeviceUpdateReport: Encodable {
  let pack: String
  let from, to: UInt64
  let rangeBytes: Int
  let deltaBytes: Int?
  let deltas: Int

  init(_ update: Site.Update) {
    pack = update.to.pack.name
    from = update.from.number
    to = update.to.number
    rangeBytes = update.rangeByteCount
    deltaBytes = update.deltaByteCount
    deltas = update.deltaCount
  }

  var words: String {
    let way = deltas > 1 ? "a chain of \(deltas) deltas" : "a delta"
    let delta = deltaBytes.map { ", or \(way) of \(formatBytes($0))" } ?? ""
    return "devices at \(pack)@\(from) would fetch about \(formatBytes(rangeBytes)) by ranges\(delta)"
  }
}
