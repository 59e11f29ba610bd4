import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackStore

struct Status: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show a site's state: channels, keys, space and alarms.",
    discussion: """
      Needs no key and changes nothing. Exits with 1 if an alarm is urgent, so that a timer can run it. Alarms, the \
      urgent ones first:

        key_ends        the release key may sign for 30 days at most
        root_expires    clients refuse the root in 3 days at most
        damaged_root    the root is damaged, or its signature is invalid
        lost_root       the root of live is missing
        future_root     the root is dated more than a day from now
        missing_object  files are missing or have another length
        policy_unmet    pinned versions are missing, or the policy is damaged
        rollout_stops   not urgent: steps of releases need a newer root or key
        missing_delta   not urgent: 'packstore deltas' would build deltas
        due_files       not urgent: the next publication deletes files

      If a key or a root is valid for less than twice that time, its alarm begins after half of its validity. \
      The check of the files takes one request for each file of a web server, and of a bucket that cannot be listed.

        packstore status public/packs
        packstore status s3://assets/packs --json
        packstore status https://example.com/packs --channel beta
      """
  )

  @Argument(help: "The site: a folder, an http: or https: URL, or s3://bucket/prefix.", completion: .directory)
  var site: String

  @Flag(help: "Omit the check that every file exists.")
  var noObjects = false

  @OptionGroup var place: SitePlaceOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: withoutSecrets(site)) }

  func validate() throws {
    guard place.channel.isEmpty || site.contains("://") else {
      throw ValidationError("--channel is for web servers: all channels of a folder are shown")
    }
  }

  func run() async throws {
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let place = try place.place(of: site)
    let result: Result<Site.Status, any Error>
    do {
      result = .success(try await SiteStatusReader(place).run(checksObjects: !noObjects))
    } catch { result = .failure(error) }
    await place.close()
    let status = try result.get()
    bar.finish()
    let output = Output()
    if report.json {
      try output.json(StatusReport(status))
    } else if report.isTalkative {
      try output.lines(StatusText(status).lines)
    }
    try output.flush()
    guard status.isUrgent else { return }
    let codes = Set(status.alarms.filter(\.isUrgent).map(\.code.rawValue)).sorted().joined(separator: ", ")
    throw Failure(.failed, "'\(escaped(withoutSecrets(site)))': urgent alarms: \(codes)", path: withoutSecrets(site))
  }
}

/// The status as text.
private struct StatusText {
  let status: Site.Status

  init(_ status: Site.Status) { self.status = status }

  var lines: [String] { offers + keys + history + policy + space + objects + status.alarms.map(words) }

  private var history: [String] {
    let counts = status.channels.compactMap { channel in channel.changeCount.map { "\($0) of \(channel.channel)" } }
    return counts.isEmpty ? [] : ["changes  \(counts.joined(separator: ", "))"]
  }

  private var offers: [String] {
    guard !status.channels.isEmpty else { return [] }
    var table = Table(
      ("CHANNEL", .left), ("ROOT", .right), ("EXPIRES", .left), ("PACK", .left), ("VERSION", .right), ("LABEL", .left),
      ("SHARE", .right), ("ROLLOUT", .left), ("RELEASE", .left), ("APP", .left))
    for channel in status.channels {
      let head = [
        channel.channel.name, "\(channel.sequence)", channel.expiresAt.map(formatDate) ?? "never",
      ]
      if channel.offers.isEmpty {
        table.add(head + [channel.isClosed ? "(closed)" : "(nothing)", "", "", "", "", "", ""])
      }
      for offer in channel.offers {
        table.add(
          head + [
            offer.pack.name, "\(offer.version)", offer.label?.text ?? "", offer.share.description,
            offer.rollout.map { RolloutReport($0).words } ?? "", offer.release?.description ?? "",
            offer.appVersions?.description ?? "all",
          ])
      }
    }
    return table.lines
  }

  private var keys: [String] {
    status.keys.map { key in
      let scope = key.channels.isEmpty ? "all channels" : key.channels.map(\.name).joined(separator: ", ")
      return "key \(key.releaseKey) of \(key.rootKey), for \(scope), "
        + (key.endsAt.map { "until \(formatDate($0))" } ?? "without end")
    } + (status.lastPublicationAt.map { ["last publication  \(formatDate($0))"] } ?? [])
  }

  private var policy: [String] {
    status.space?.keptByteCount == nil ? [] : PolicyReport(status.policy, nil).lines
  }

  private var space: [String] {
    guard let space = status.space else { return [] }
    var lines = ["needed   \(formatBytes(space.neededByteCount))"]
    if let kept = space.keptByteCount { lines.append("kept     \(formatBytes(kept)) of versions without an offer") }
    for group in space.retired ?? [] {
      lines.append(
        "retired  \(formatBytes(group.byteCount)) in \(formatCount(group.fileCount, "file")), until \(formatDate(group.until))"
      )
    }
    if let dead = space.deadByteCount { lines.append("dead     \(formatBytes(dead))") }
    return lines
      + (status.missingDeltas ?? []).map { delta in
        let saving = delta.rangeByteCount.map { ": devices fetch about \(formatBytes($0)) by ranges" } ?? ""
        return "missing delta  \(delta.pack)@\(delta.from) to \(delta.to)\(saving)"
      }
  }

  private var objects: [String] {
    guard let objects = status.objects else { return [] }
    return ["objects  \(formatCount(objects.checkedCount, "file")) checked, \(objects.faults.count) missing or wrong"]
      + objects.faults.prefix(Self.shownFaultCount).map { fault in
        let found = fault.foundByteCount.map { "has \($0) bytes instead of \(fault.byteCount)" } ?? "missing"
        return "  \(escaped(fault.path)): \(found)"
      }
  }

  /// More are in the JSON.
  private static let shownFaultCount = 20

  private func words(_ alarm: Site.Alarm) -> String {
    let place = alarm.channel.map { " \($0)" } ?? alarm.key.map { " \($0)" } ?? ""
    let count = alarm.count.map { ": \($0)" } ?? ""
    return "\(alarm.isUrgent ? "ALARM" : "note ")  \(alarm.code.rawValue)\(place)\(count)"
      + (alarm.date.map { " at \(formatDate($0))" } ?? "")
  }
}

private struct StatusReport: Encodable {
  struct Channel: Encodable {
    let channel: String
    let sequence: UInt64
    let madeAt: String
    let expires: String?
    let closed: Bool
    let key: String?
    let changes: UInt64?
    let offers: [Offer]
  }

  struct Offer: Encodable {
    let pack: String
    let version: UInt64
    let label: String?
    let share: String
    let rollout: RolloutReport?
    let release: ReleaseReport?
    let appVersions: String?
    let downloadBytes: Int
  }

  struct Key: Encodable {
    let key, rootKey: String
    let serial: UInt64
    let channels: [String]
    let ends: String?
  }

  struct Retired: Encodable {
    let until: String
    let files, bytes: Int
  }

  struct Space: Encodable {
    let neededBytes: Int
    let keptBytes, deadBytes: Int?
    let retired: [Retired]?
  }

  struct Delta: Encodable {
    let pack: String
    let from, to: UInt64
    let rangeBytes: Int?
  }

  struct Objects: Encodable {
    let checked: Int
    let faults: [ObjectFaultReport]
  }

  struct Alarm: Encodable {
    let code: String
    let urgent: Bool
    let channel, key, date: String?
    let count: Int?
  }

  let product, lastPublication: String?
  let urgent: Bool
  let channels: [Channel]
  let keys: [Key]
  let policy: PolicyReport?
  let space: Space?
  let missingDeltas: [Delta]?
  let objects: Objects?
  let alarms: [Alarm]

  init(_ status: Site.Status) {
    product = status.product?.name
    lastPublication = status.lastPublicationAt.map(formatDate)
    urgent = status.isUrgent
    channels = status.channels.map { channel in
      Channel(
        channel: channel.channel.name, sequence: channel.sequence, madeAt: formatDate(channel.madeAt),
        expires: channel.expiresAt.map(formatDate), closed: channel.isClosed, key: channel.releaseKey?.description,
        changes: channel.changeCount, offers: channel.offers.map(Offer.init))
    }
    keys = status.keys.map {
      Key(
        key: $0.releaseKey.description, rootKey: $0.rootKey.description, serial: $0.serial,
        channels: $0.channels.map(\.name), ends: $0.endsAt.map(formatDate))
    }
    policy = status.space?.keptByteCount == nil ? nil : PolicyReport(status.policy, nil)
    space = status.space.map(Space.init)
    missingDeltas = status.missingDeltas?.map {
      Delta(pack: $0.pack.name, from: $0.from, to: $0.to, rangeBytes: $0.rangeByteCount)
    }
    objects = status.objects.map {
      Objects(checked: $0.checkedCount, faults: $0.faults.map(ObjectFaultReport.init))
    }
    alarms = status.alarms.map {
      Alarm(
        code: $0.code.rawValue, urgent: $0.isUrgent, channel: $0.channel?.name, key: $0.key?.description,
        date: $0.date.map(formatDate), count: $0.count)
    }
  }
}

extension StatusReport.Offer {
  init(_ offer: Site.Status.Offer) {
    pack = offer.pack.name
    version = offer.version
    label = offer.label?.text
    share = offer.share.description
    rollout = offer.rollout.map(RolloutReport.init)
    release = offer.release.map(ReleaseReport.init)
    appVersions = offer.appVersions?.description
    downloadBytes = offer.downloadByteCount
  }
}

extension StatusReport.Space {
  init(_ space: Site.Status.Space) {
    neededBytes = space.neededByteCount
    keptBytes = space.keptByteCount
    deadBytes = space.deadByteCount
    retired = space.retired?.map { .init(until: formatDate($0.until), files: $0.fileCount, bytes: $0.byteCount) }
  }
}

/// A file of a site that is missing or has another length.
struct ObjectFaultReport: Encodable {
  let path: String
  let bytes: UInt64
  let foundBytes: UInt64?

  init(_ fault: Site.ObjectFault) {
    path = fault.path
    bytes = fault.byteCount
    foundBytes = fault.foundByteCount
  }
}
