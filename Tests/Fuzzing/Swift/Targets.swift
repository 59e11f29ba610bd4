// Fuzz targets for the decoders of data from servers and files. One program; its name selects the target.
import Foundation
import NIOHTTP1
import PackFormats
import PackStore

/// The function of each target. No input may trap.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "response": decodeResponse, "url": decodeURL, "netrc": decodeNetrc, "root": decodeRoot, "rollouts": decodeRollouts,
  "releases": decodeReleases,
  "manifest": decodeManifest,
  "archive": decodeArchive, "tar": decodeTarHeader, "key": decodeKey, "trust": decodeTrust, "device": decodeDevice,
  "retired": decodeRetired, "json": decodeJSON, "attributes": decodeAttributes, "foreign": readForeign,
  "authoring": decodeAuthoring, "vdf": decodeVDF, "sheet": decodeSheet,
  "site": decodeSite, "agent": decodeAgentStream, "journal": decodeJournal, "plist": decodePropertyList,
  "language": matchLanguages, "ledger": decodeLedger, "image": decodeImage, "storage": decodeStorageTexts,
  "install": decodeInstallation, "authority": decodeAuthority, "keyset": decodeKeySetTexts,
  "history": decodeHistory,
]

nonisolated(unsafe) private var target: ([UInt8]) -> Void = { _ in }

/// Selects the target. With `--seeds FOLDER`, writes the initial inputs of each target and exits.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  let words = CommandLine.arguments
  if words.count == 3, words[1] == "--seeds" {
    for (name, seeds) in seeds {
      let folder = "\(words[2])/swift-\(name)"
      try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (index, seed) in seeds.enumerated() {
        try! Data(seed).write(to: URL(fileURLWithPath: "\(folder)/\(index)"))
      }
    }
    exit(0)
  }
  let name = words[0].split(separator: "/").last?.split(separator: "-").last.map(String.init) ?? ""
  guard let chosen = targets[name] else {
    print("there is no target '\(name)'")
    exit(2)
  }
  target = chosen
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

// MARK: - Targets

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Lines of header fields.
@Sendable private func decodeResponse(_ bytes: [UInt8]) {
  let fields = text(bytes).split(separator: "\n").map { line in
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
  }
  let headers = HTTPHeaders(fields)
  if let range = ContentRange(headers.first(name: "Content-Range") ?? "") {
    precondition(range.range.count > 0 && range.range.upperBound <= 1_000_000_000_000_000_000)
  }
  if let length = headers.contentLength { precondition(length < 1_000_000_000_000_000_000) }
  if let delay = headers.retryAfter { precondition(delay >= .zero) }
  _ = headers.isIdentity
  _ = Validator(headers)
  for field in FileValidators(headers)?.requestFields ?? [] {
    precondition(field.1.utf8.allSatisfy { (0x20...0x7e).contains($0) })
  }
}

/// A site and a redirection; the environment's proxies.
@Sendable private func decodeURL(_ bytes: [UInt8]) {
  let lines = text(bytes).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
  guard let site = try? SiteURL(lines[0]) else { return }
  precondition((1...65_535).contains(site.port ?? 80))
  _ = (site.file("root"), site.canonical, site.authority, site.target, site.folder(of: "root"))
  if lines.count > 1, let next = try? site.redirected(to: lines[1]) {
    precondition((1...65_535).contains(next.port ?? 80) && (site.scheme != "https" || next.scheme == "https"))
    _ = next.folder(of: "root")
  }
  let words = lines.count > 2 ? lines[2].split(separator: " ", maxSplits: 1).map(String.init) : []
  let settings = ProxySettings(environment: ["all_proxy": words.first ?? "", "no_proxy": words.last ?? ""])
  if let proxy = try? settings.proxy(for: site) { precondition((1...65_535).contains(proxy.port)) }
}

/// A file of names and passwords, and a host.
@Sendable private func decodeNetrc(_ bytes: [UInt8]) {
  let lines = text(bytes).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard lines.count > 1, let found = try? SiteAuthorization(for: "https://\(lines[0])/", inNetrc: lines[1]) else {
    return
  }
  for field in found.fields {
    precondition(field.value.utf8.allSatisfy { (0x20...0x7e).contains($0) })
  }
  _ = withoutSecrets(lines[1])
  _ = hidingSecrets(in: lines[1])
}

@Sendable private func decodeRoot(_ bytes: [UInt8]) {
  if let previous = try? SignedSiteRoot(convertingPreviousDraft: bytes, file: "root") {
    precondition(previous.authority?.delegation.revokedBelow == 0 && previous.root.packs.allSatisfy(\.deltas.isEmpty))
  }
  guard let signed = try? SignedSiteRoot(decoding: bytes, file: "root") else { return }
  _ = signed.move
  for pack in signed.root.packs {
    precondition(!pack.offers.isEmpty)
    for offer in pack.offers { _ = try? offer.openManifest([], of: pack.id) }
  }
  let encoded = try! signed.root.encode(signedBy: nil)
  precondition(try! SignedSiteRoot(decoding: encoded, file: "root").root == signed.root)
}

/// A record of the history, the private part of one, or a root and its link to the history.
@Sendable private func decodeHistory(_ bytes: [UInt8]) {
  if let record = try? ChangeRecord(decoding: bytes, file: "record") { precondition(record.bytes == bytes) }
  if let sealed = try? SealedChangeNote(decoding: bytes, file: "note") {
    let again = SealedChangeNote(sealed.note, salt: Array(bytes.prefix(SealedChangeNote.saltByteCount)))
    precondition(try! SealedChangeNote(decoding: again.bytes, file: "note").note == sealed.note)
  }
  guard let signed = try? SignedSiteRoot(decoding: bytes, file: "root") else { return }
  guard var chain = try? ChangeChain(of: signed, bytes) else { return }
  precondition(chain.next == nil || (try? chain.add(bytes)) == nil)
}

/// A root with a rollout in each state.
private let rollingRoot: SiteRoot = {
  var root = offeringRoot
  let steps = [Rollout.Step(time: root.madeAt + 5, share: 200), Rollout.Step(time: root.madeAt + 9, share: 10_000)]
  for (index, state) in Rollout.State.allCases.enumerated() {
    root.packs[0].offers[index].rollout = Rollout(state: state, asOf: root.madeAt + 7, steps: steps)
  }
  root.horizon = 8
  return root
}()

/// A root with three offers of the pack A.
private let offeringRoot: SiteRoot = {
  let offers = (1...3 as ClosedRange<UInt64>).map {
    SiteRoot.Offer(number: $0, catalog: CatalogID(digest: .zero), manifest: .zero, manifestByteCount: 1, share: 100)
  }
  return SiteRoot(
    sequence: 1, madeAt: 1_700_000_000_000_000_000, expiresAfter: 1,
    site: SiteID(ID128(copying: [UInt8](repeating: 1, count: 16)[...])),
    product: .standard,
    packs: [SiteRoot.Pack(id: try! PackID(validating: "A"), priority: 0, offers: offers, deltas: [])])
}()

/// The extension of a root with rollouts. Decoded rollouts have one encoding, and shares never fall over time.
@Sendable private func decodeRollouts(_ bytes: [UInt8]) {
  var root = offeringRoot
  guard (try? root.decodeRollouts(bytes[...], file: "root")) != nil else { return }
  precondition(root.rolloutBytes == bytes)
  let encoded = try! root.encode(signedBy: nil)
  precondition(try! SignedSiteRoot(decoding: encoded, file: "root").root == root)
  for offer in root.packs[0].offers {
    let times = [Int64.min, 0, root.madeAt, root.horizonEnd] + (offer.rollout?.steps.map(\.time) ?? []) + [.max]
    let shares = times.sorted().map { root.share(of: offer, at: $0) }
    precondition(zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 } && shares.allSatisfy { $0 <= 10_000 })
  }
}

/// A root with the packs A and B, whose offers are members of releases with a rollout, a halt and a fixed share.
private let releasingRoot: SiteRoot = {
  var root = twoPackRoot
  let steps = [Rollout.Step(time: root.madeAt + 5, share: 200), Rollout.Step(time: root.madeAt + 9, share: 10_000)]
  let rollouts = [Rollout(asOf: 7, steps: steps), Rollout(state: .halted, asOf: root.madeAt), nil]
  for (index, rollout) in rollouts.enumerated() {
    let id = PackReleaseID(ID128(copying: [UInt8](repeating: UInt8(index), count: 16)))
    let release = PackRelease(id: id, name: index == 0 ? try! PackReleaseName("spring-1") : nil)
    for pack in root.packs.indices {
      root.packs[pack].offers[index].release = release
      root.packs[pack].offers[index].share = 100
      root.packs[pack].offers[index].rollout = rollout
    }
  }
  root.horizon = 8
  return root
}()

private let twoPackRoot: SiteRoot = {
  var root = offeringRoot
  var second = root.packs[0]
  second.id = try! PackID(validating: "B")
  root.packs.append(second)
  for pack in root.packs.indices {
    for offer in root.packs[pack].offers.indices { root.packs[pack].offers[offer].share = 0 }
  }
  root.highest = SiteRoot.highest(of: root.packs)
  return root
}()

/// The extension of a root with releases. Decoded releases have one encoding, and a blocked pack is never an unable one.
@Sendable private func decodeReleases(_ bytes: [UInt8]) {
  var root = twoPackRoot
  guard (try? root.decodeReleases(bytes[...], file: "root")) != nil else { return }
  precondition(root.releaseBytes == bytes)
  let encoded = try! root.encode(signedBy: nil)
  precondition(try! SignedSiteRoot(decoding: encoded, file: "root").root == root)
  var selections: [PackID: OfferSelection] = [:]
  for entry in root.packs {
    selections[entry.id] = OfferSelection(
      of: entry, in: root, signedBy: nil, for: SiteClient(device: nil), at: .max, platforms: { _ in [] },
      isCurrent: { _ in false }, storeDevice: { nil })
  }
  let selection = ReleaseSelection(in: root, selections) { _, offer in
    offer.number == 1
  } applies: { _, _ in
    true
  }
  let all = Set(root.packs.map(\.id)), first = Set([root.packs[0].id])
  precondition(selection.included(with: first).isSubset(of: all))
  precondition(selection.blocked(by: first, among: all)[root.packs[0].id] == nil)
}

@Sendable private func decodeSheet(_ bytes: [UInt8]) {
  guard let sheet = try? AttributeSheet(decoding: bytes, file: "sheet") else { return }
  let attributes = sheet.digests.compactMap { try? sheet.attributes($0) }
  precondition(attributes.count < sheet.digests.count || (try! AttributeSheet(attributes).encode()) == bytes)
}

/// A remembered site in a store. The target corrects the digest at its end: otherwise no input would pass it.
@Sendable private func decodeSite(_ bytes: [UInt8]) {
  let content = Array(bytes.dropLast(Digest256.byteCount))
  let file = content + Digest256(hashing: content).bytes
  guard let site = try? RememberedSite(decoding: file, file: "site") else { return }
  precondition(site.encode() == file)
  for text in [site.validators?.tag, site.validators?.changedAt].compactMap({ $0 }) {
    precondition(text.utf8.allSatisfy { (0x20...0x7e).contains($0) })
  }
}

@Sendable private func decodeManifest(_ bytes: [UInt8]) {
  guard let manifest = try? VersionManifest(decoding: bytes, file: "manifest") else { return }
  precondition(try! manifest.encode() == bytes)
}

@Sendable private func decodeArchive(_ bytes: [UInt8]) {
  let index = try? ArchiveIndex(byteCount: UInt64(bytes.count), file: "archive") { offset, count in
    Array(bytes[Int(offset)..<Int(offset) + count])
  }
  for member in index?.members.values.map({ $0 }) ?? [] {
    precondition(member.offset + member.byteCount <= UInt64(bytes.count))
  }
}

/// A header with a corrected checksum: otherwise no input would pass it.
@Sendable private func decodeTarHeader(_ bytes: [UInt8]) {
  guard bytes.count >= TarHeader.byteCount else { return }
  var header = Array(bytes.prefix(TarHeader.byteCount))
  for place in 148..<156 { header[place] = UInt8(ascii: " ") }
  let digits = Array(String(header.reduce(0) { $0 + Int($1) }, radix: 8).utf8)
  header.replaceSubrange(148..<156, with: Array("0000000".utf8.dropLast(digits.count)) + digits + [0])
  guard let tar = TarHeader(decoding: header[...]) else { return }
  _ = TarHeader.paddedByteCount(tar.byteCount)
  precondition(tar.name.utf8.count <= 100)
}

@Sendable private func decodeKey(_ bytes: [UInt8]) {
  if let key = SiteKey(fileText: text(bytes)) { precondition(key.fileText.utf8.elementsEqual(bytes)) }
  let file = SiteKey.normalizedFileText(text(bytes))
  precondition(!SiteKey.fault(inFileText: file).isEmpty)
  if let root = SiteKey.previousRoot(fileText: file) { precondition(root.rotations.last?.new == root.key.publicKey) }
  _ = SiteKey.previousRelease(fileText: file)
  if let key = SitePublicKey(text(bytes)) { precondition(key.description == text(bytes)) }
}

/// The keys that authorize a signature: single root keys or key sets. Decoded authorities have one encoding.
@Sendable private func decodeAuthority(_ bytes: [UInt8]) {
  var reader = ByteReader(bytes[...], file: "")
  if let authority = try? SigningAuthority(from: &reader) {
    precondition(authority.bytes == Array(bytes[..<reader.offset]))
    precondition(authority.rootKeys.first == authority.firstKey && authority.rootKeys.last == authority.rootKey)
    precondition(authority.sets.map { !$0.hasSingleKeys } ?? true)
  }
  // Without signatures, which a fuzzer cannot make: a set and the fields of a delegation.
  var set = ByteReader(bytes[...], file: "")
  if let decoded = try? KeySet(from: &set) {
    var writer = ByteWriter()
    decoded.encode(to: &writer)
    precondition(writer.bytes == Array(bytes[..<set.offset]) && 1...decoded.keys.count ~= decoded.threshold)
  }
  var fields = ByteReader(bytes[...], file: "")
  if let terms = try? DelegationTerms(from: &fields) { precondition(terms.bytes == Array(bytes[..<fields.offset])) }
}

/// The file of a key set, a request to its holders, their answers, and a signature as other programs print it.
@Sendable private func decodeKeySetTexts(_ bytes: [UInt8]) {
  let text = text(bytes)
  if let set = try? KeySetFile(text: text, file: "") {
    precondition((try? KeySetFile(text: set.text, file: ""))?.text == set.text)
  }
  if let request = try? KeySetRequest(text: text, file: "") {
    precondition((try? KeySetRequest(text: request.text, file: ""))?.digest == request.digest)
  }
  if let answer = try? KeySetAnswer(text: text, file: "") {
    precondition((try? KeySetAnswer(text: answer.text, file: ""))?.text == answer.text)
  }
}

@Sendable private func decodeTrust(_ bytes: [UInt8]) {
  guard let book = TrustBook(text: text(bytes)) else { return }
  precondition(TrustBook(text: book.text) == book)
}

/// A line of a store's install log.
@Sendable private func decodeInstallation(_ bytes: [UInt8]) {
  guard let installation = Installation(line: bytes) else { return }
  precondition(installation.line == bytes && !bytes.contains(10))
}

@Sendable private func decodeDevice(_ bytes: [UInt8]) {
  guard let record = DeviceRecord(text: text(bytes)) else { return }
  precondition(record.text.utf8.elementsEqual(bytes) && DeviceID(hex: record.device.description) == record.device)
}

/// The lists that a site keeps for its publishers; for retired files, also with any clock.
@Sendable private func decodeRetired(_ bytes: [UInt8]) {
  if let numbers = try? PublishedNumbers(decoding: bytes, file: "numbers") { precondition(numbers.encode() == bytes) }
  let history = OfferHistory(decoding: bytes)
  precondition(OfferHistory(decoding: history.encode()) == history)
  guard var retired = try? RetiredFiles(decoding: bytes, file: "retired") else { return }
  precondition(retired.encode() == bytes)
  _ = (retired.byteCount, retired.firstEnd(grace: .max))
  let now = retired.entries.values.map(\.since).max() ?? 0
  let count = retired.entries.count
  retired.dropDue(now: now, latest: now, grace: .max)
  precondition(retired.entries.count == count || now == .max)
  retired.replace(retired.entries.mapValues(\.byteCount), by: [:], now: now)
  retired.dropDue(now: .max, latest: .max, grace: 0)
  precondition(retired.isEmpty)
}

/// The first byte selects whether comments are permitted. Canonical output is stable: reading and writing it again changes
/// nothing.
@Sendable private func decodeJSON(_ bytes: [UInt8]) {
  let document = JSONReader.read(
    Array(bytes.dropFirst()), options: .init(allowsComments: bytes.first.map { $0 & 1 == 1 } ?? false))
  for fault in document.faults {
    precondition(
      0...document.bytes.count ~= fault.position.offset && fault.position.line > 0 && fault.position.column > 0)
  }
  guard let root = document.root else { return precondition(!document.faults.isEmpty) }
  let source = JSONReader.read(document.source(of: root))
  precondition(source.root != nil)
  var text: [UInt8] = [], again: [UInt8] = []
  root.appendCanonical(to: &text)
  let document2 = JSONReader.read(text)
  precondition(document2.faults.isEmpty && document2.root?.range == 0..<text.count)
  document2.root?.appendCanonical(to: &again)
  precondition(again == text)
}

@Sendable private func decodeAttributes(_ bytes: [UInt8]) {
  guard let attributes = try? Attributes(canonical: bytes) else { return }
  precondition(attributes.canonicalBytes == bytes && bytes.count <= Attributes.byteCountLimit)
  if let info = attributes.userInfo { precondition(try! UserInfo(json: info.bytes) == info) }
  if let label = attributes.label { precondition(try! VersionLabel(label.text) == label) }
  if let note = attributes.note { precondition(try! VersionNote(note.text) == note) }
  if let range = attributes.appVersions { precondition(try! AppVersionRange(range.description) == range) }
}

/// Another program's archive. The first byte selects the format: tar, tar in gzip or zstd, zip, Apple's, in blocks.
@Sendable private func readForeign(_ bytes: [UInt8]) {
  let faults = ArchiveFaults(file: "archive")
  let content = Array(bytes.dropFirst())
  let limit: UInt64 = 1 << 22
  let file = InputFile(content)
  let raw = StreamReader(FileStream(file, 0..<UInt64(content.count)), faults)
  let budget = ByteBudget(limit: limit, faults)
  func open() throws -> any ContainerReader {
    switch (bytes.first ?? 0) % 6 {
    case 0: TarContainer(raw, faults)
    case 1: TarContainer(StreamReader(try DecodedStream(.gzip, of: raw, budget, faults), faults), faults)
    case 2: TarContainer(StreamReader(try DecodedStream(.zstd, of: raw, budget, faults), faults), faults)
    case 3: try ZipContainer(file, limit: limit, names: content.count % 2 == 0 ? .cp437 : nil, faults)
    case 4: AppleArchiveContainer(raw, faults)
    default: AppleArchiveContainer(StreamReader(try BlockStream(raw, budget, faults), faults), faults)
    }
  }
  try? walk(open(), limit: limit, faults)
}

private func walk(_ reader: any ContainerReader, limit: UInt64, _ faults: ArchiveFaults) throws {
  var reader = reader
  var table = EntryTable(limit: 10_000, faults)
  var left = ByteBudget(limit: limit, faults)
  try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
    while let entry = try reader.next() {
      let path = try EntryPath(entry.path, faults)
      precondition(!path.bytes.contains(0) && path.bytes.first != 0x2F && path.bytes.last != 0x2F)
      precondition(!path.bytes.split(separator: 0x2F).contains { $0.elementsEqual("..".utf8) })
      guard case .file(let byteCount) = entry.kind else { continue }
      try table.insert(path, .file, byteCount: byteCount)
      precondition(table.byteCount(ofFile: path) == byteCount)
      try left.take(byteCount)
      var done: UInt64 = 0
      while case let count = try reader.read(into: buffer), count > 0 { done += UInt64(count) }
      precondition(done == byteCount)
    }
  }
}

/// A pack's manifest as its author writes it.
@Sendable private func decodeAuthoring(_ bytes: [UInt8]) {
  let reading = ManifestReader.read(bytes)
  precondition((reading.manifest == nil) == reading.problems.hasErrors)
  for problem in reading.problems.sorted {
    precondition(problem.line > 0 && problem.column > 0 && !problem.message.isEmpty)
  }
  for selector in reading.selectors where selector.pattern == nil {
    for path in [selector.source, selector.destination ?? ""] where !path.isEmpty {
      precondition(path.pathParts.allSatisfy { !["", ".", ".."].contains($0) } && path.utf8.count <= 4095)
    }
  }
}

/// A converted script is a manifest without errors.
@Sendable private func decodeVDF(_ bytes: [UInt8]) {
  let conversion = DepotConversion(bytes)
  guard let manifest = conversion.manifest else { return precondition(!conversion.problems.isEmpty) }
  let reading = ManifestReader.read(Array(manifest.utf8))
  precondition(reading.selectors.count == conversion.selectorCount && !reading.problems.hasErrors)
}

/// A stream between app and agent, or agent and extension. The first byte selects the receiver, the second the length of parts.
@Sendable private func decodeAgentStream(_ bytes: [UInt8]) {
  let kind = (bytes.first ?? 0) % 4, step = Int(bytes.dropFirst().first ?? 0) + 1, stream = Array(bytes.dropFirst(2))
  var frames = MessageFrames(limit: kind < 2 ? MessageFrames.byteCountLimit : FilterProtocol.byteCountLimit)
  for begin in stride(from: 0, to: stream.count, by: step) {
    frames.append(stream[begin..<min(begin + step, stream.count)])
    while true {
      do {
        guard let message = try frames.next() else { break }
        decodeAgentMessage(message, kind)
      } catch {
        return
      }
    }
    precondition(frames.room > 0)
  }
}

/// A decoded message equals its encoded and decoded copy.
private func decodeAgentMessage(_ message: [UInt8], _ kind: UInt8) {
  switch kind {
  case 0:
    guard let request = try? AgentRequest(decoding: message) else { return }
    precondition(try! AgentRequest(decoding: request.encode()) == request)
  case 1:
    guard let reply = try? AgentReply(decoding: message) else { return }
    if case .failed = reply { return }  // Its text is shortened.
    precondition(try! AgentReply(decoding: reply.encode()) == reply)
  case 2:
    guard let request = try? FilterRequest(decoding: message) else { return }
    precondition(try! FilterRequest(decoding: request.encode()) == request)
  default:
    guard let reply = try? FilterReply(decoding: message) else { return }
    precondition(try! FilterReply(decoding: reply.encode()) == reply)
  }
}

/// A decoded journal equals its encoded and decoded copy.
@Sendable private func decodeJournal(_ bytes: [UInt8]) {
  guard let journal = try? Journal(decoding: bytes) else { return }
  precondition(try! Journal(decoding: journal.encode()) == journal)
}

@Sendable private func decodePropertyList(_ bytes: [UInt8]) {
  guard let configuration = try? ManagedConfiguration(propertyList: Data(bytes)) else { return }
  precondition(!configuration.sites.isEmpty && configuration.essentialByteCount ?? 0 >= 0)
}

/// Lines of language tags: the first ones are available, and the last is the preferred one.
@Sendable private func matchLanguages(_ bytes: [UInt8]) {
  let tags = text(bytes).split(separator: "\n").prefix(8).compactMap { try? LanguageTag(String($0)) }
  guard let wanted = tags.last else { return }
  let available = tags.dropLast(), matcher = LanguageMatcher(available: available, primary: available.first)
  let match = matcher.match(wanted), resolved = matcher.resolve(preferred: [wanted])
  precondition(match.map(available.contains) ?? true && resolved.map(available.contains) ?? true)
  if let match { precondition(resolved == match) }
  if available.contains(wanted) { precondition(match != nil) }
}

/// A decoded ledger equals its encoded and decoded copy, also after the operations of publishers.
@Sendable private func decodeLedger(_ bytes: [UInt8]) {
  guard let ledger = try? Ledger(decoding: bytes, file: "ledger") else { return }
  precondition(try! Ledger(decoding: ledger.encode(), file: "ledger") == ledger)
  if let committed = ledger.committed { _ = committed.copy?.bytes(of: committed.image, byteCount: committed.byteCount) }
  var next = ledger
  let now = ledger.jobs.values.map(\.leaseEnd).max() ?? 0, me = ID128(copying: [UInt8](repeating: 9, count: 16))
  for (id, job) in ledger.jobs.sorted(by: { $0.key.hex < $1.key.hex }) {
    try? next.renew(id, until: now)
    _ = try? next.makeReady(id, [:])
    next.finish(id, dropped: job.claims, copy: nil, now: now, times: .init())
  }
  _ = next.beginDeletions(by: me, now: now, times: .init())
  precondition(try! Ledger(decoding: next.encode(), file: "ledger") == next)
}

@Sendable private func decodeImage(_ bytes: [UInt8]) {
  guard let signed = try? SignedSiteImage(decoding: bytes, file: "image") else { return }
  precondition(signed.bytes == bytes && signed.image.hasSameFiles(as: signed.image))
  for (path, file) in signed.image.files {
    precondition(SiteImage.Path("\(path)") == path && (file.content?.count ?? 0) <= path.contentByteLimit)
  }
  _ = (signed.keys, signed.image.roots)
}

/// Answers of a storage, and files with credentials.
@Sendable private func decodeStorageTexts(_ bytes: [UInt8]) {
  _ = S3Answer(
    status: UInt(bytes.first ?? 0) + 256 * UInt(bytes.last ?? 0), code: S3Answer.code(in: bytes), region: text(bytes),
    retryAfter: nil, at: "storage")
  let lines = text(bytes), variables = ["AWS_CONFIG_FILE": "config", "AWS_SHARED_CREDENTIALS_FILE": "credentials"]
  if let profile = try? StorageProfile(environment: variables, read: { _ in lines }) {
    precondition("\(profile.credentials.map { "\($0)" } ?? "")".count <= 11, "no secret is shown")
  }
  for line in lines.split(separator: "\n") {
    guard let location = try? S3Location(String(line)) else { continue }
    precondition(try! S3Location(location.description) == location)
  }
}

// MARK: - Seeds

private let netrcs = [
  "a.example\nmachine a.example login ann password one\ndefault login b password \"c \\\"d\\n\"",
  "ann@a.example:80\n# x\nmachine b\nmacdef init\nmachine a\n\nMACHINE a.example account x password #y",
]

/// A key set of 2 of 3, its request, an answer, and an authority of it.
private let keySetSeeds: (authorities: [[UInt8]], texts: [[UInt8]]) = {
  let keys = (0..<4).map { _ in SiteKey() }
  func signatures(_ message: [UInt8], _ kind: SignedKind) -> [SitePublicKey: [UInt8]] {
    Dictionary(uniqueKeysWithValues: keys.map { ($0.publicKey, try! $0.signature(of: message, as: kind)) })
  }
  var chain = try! KeySetChain(first: KeySet(threshold: 2, keys: keys.prefix(3).map(\.publicKey)))
  let set = try! KeySet(number: 2, threshold: 2, keys: keys.suffix(3).map(\.publicKey))
  let rotation = KeySetRotation.message(first: chain.firstID, old: chain.last.id, new: set)
  let request = try! KeySetRequest(sets: chain, next: set, delegations: [], provesHolders: false)
  chain = try! chain.appending(
    KeySetRotation(first: chain.firstID, old: chain.last, new: set, signatures: signatures(rotation, .setRotation)))
  let terms = try! DelegationTerms(
    serial: 9, madeAt: 5, endsAt: 6, rootKey: set.id, releaseKey: SiteKey().publicKey, product: .standard,
    channels: [.live])
  let delegation = try! KeyDelegation(
    terms, by: set, first: chain.firstID,
    signatures: signatures(KeyDelegation.message(terms, first: chain.firstID), .setDelegation))
  var setBytes = ByteWriter()
  set.encode(to: &setBytes)
  let file = try! KeySetFile(threshold: 2, keys: keys.map(\.publicKey)),
    answer = """
      packstore key set signatures 1
      request \(request.digest.hex)
      key \(keys[0].publicKey)
      rotation \(Data(repeating: 1, count: 64).base64EncodedString())

      """
  let later = try! KeySetRequest(sets: chain, next: nil, delegations: [terms], provesHolders: true)
  return (
    [
      try! SigningAuthority(sets: chain, delegation: delegation).bytes, try! keys[0].authority(for: .standard).bytes,
      setBytes.bytes, terms.bytes,
    ], [file.text, request.text, later.text, answer].map { Array($0.utf8) }
  )
}()

private let seeds: [String: [[UInt8]]] = {
  let digest = Digest256(hashing: [1, 2, 3]), key = SiteKey()
  let site = SiteID(ID128(copying: [UInt8](repeating: 9, count: 16)))
  let catalog = CatalogID(digest: digest), other = CatalogID(digest: Digest256(hashing: [4]))
  let manifest = VersionManifest(
    pack: "Game", number: 3, catalog: catalog, layout: digest, attributes: digest, committedAt: 5, fileCount: 1,
    linkCount: 2, folderCount: 3, byteCount: 4,
    segments: [
      .init(id: SegmentID(site.id), kind: .metadata, byteCount: 100, table: digest, tableByteCount: 48)
    ], changeLists: [.init(from: other, digest: digest, byteCount: 200)])
  let manifestBytes = try! manifest.encode()
  let root = SiteRoot(
    sequence: 7, madeAt: 1, expiresAfter: 2, site: site, product: .standard,
    primaryLanguage: try! LanguageTag("en-US"), sheets: [.init(digest: digest, byteCount: 100)],
    packs: [
      .init(
        id: "Game", priority: 1,
        offers: [
          .init(
            number: 4, epoch: 6, catalog: other, manifest: digest, manifestByteCount: 9, attributes: digest,
            downloadByteCount: 1 << 40, share: 500, appVersions: try! AppVersionRange("2.0..<3")),
          .init(number: 3, catalog: catalog, manifest: digest, manifestByteCount: UInt32(manifestBytes.count)),
        ],
        deltas: [.init(from: other, to: catalog, header: digest, headerByteCount: 200, byteCount: 4000)])
    ], highest: ["Game": .init(number: 5, epoch: 7), "Old": .init(number: 1, epoch: 0)])
  let rootBytes = try! root.encode(signedBy: key)
  let next = try! SiteKey(
    fileText: SiteKey.firstLine + "\n" + Data(repeating: 6, count: 32).base64EncodedString() + "\n")!
    .following(key)
  let release = try! key.delegated(
    by: next, serial: 9, madeAt: 5, endsAt: 7, product: .standard, channels: [.live, try! SiteChannel("beta")])
  func member(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    TarHeader(name: name, byteCount: UInt64(bytes.count), modifiedAt: 1).encode() + bytes
      + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
  }
  let archive =
    member("root", [1, 2, 3]) + member(SitePath.version(digest).description, [4])
    + [UInt8](repeating: 0, count: 1024)
  let fields = [
    "Content-Range: bytes 0-9999999999999999998/*\nContent-Length: 18446744073709551615",
    "Content-Range: bytes 5-9/10\nETag: \"a\"\nContent-Encoding: identity, gzip\nLast-Modified: x",
    "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: 4294967295",
  ]
  let urls = [
    "http://127.0.0.1:70000/root", "https://a:1/b?c#d\n//[::1]:65536/\nhttp://u:p%40@[::1]:80 *.a:1,b",
    "http://a/b\nhttp://127.0.0.1:99999999999999999999/", "https://[fe80::1%25eth0]/x\n../root\nsocks5://p a",
  ]
  let trust =
    "packstore trust 1\nbegin live https://a/%25\nfollow beta https://a/%25\n"
    + "place beta \(key.publicKey) \(key.publicKey) default 7 beta,live 5 \(digest.hex) 1 https://a/%25\n"
  let device = DeviceRecord(device: .random(), place: DevicePlace(machineID: "0", inode: .max))
  let jsons = [
    "0{\"a\":[1,-2.5e+3,true,false,null],\"\\ud83d\\ude00\":\"\\u0041\\n\\/\"}", "1\u{feff}// a\n[1, // b\r2]//",
    "0{\"a\":1,\"a\":2}", "0" + String(repeating: "[", count: 70), "0\"\u{7f}é😀\"", "0[1,]", "0\"\\ud800\"",
  ]
  let attributes = [
    "{}", #"{"appVersions":"2.0..<3","language":"zh-Hant-TW","map":["*.bin"],"placement":"purgeable","priority":-7}"#,
    #"{"downloadPolicy":{"essential":{"installationEventTypes":["firstInstallation"]}},"platforms":["iOS"]}"#,
    #"{"later":{"a":1.0},"userInfo":{"b" : 1, "a":[null]}}"#, #"{"appVersions":"..<0.0.1","map":["[!]]"]}"#,
  ]
  let manifests = [
    Manifest.template,
    """
    {"assetPackID":"P","downloadPolicy":{"prefetch":{"installationEventTypes":["subsequentUpdate"]}},"sourceRoot":"..",
     "fileSelectors":[{"fileSource":"a","fileDestination":"b/c"},{"filePattern":"**/*.[a-c]"},{"directory":"../x/."},
      {"directorySource":"/a","directoryDestination":"."},{"fileExclusion":"*"}],"platforms":["iOS","watchOS","iOS"],
     "packstore":{"placement":"purgeable","priority":-1,"map":["a"],"level":3,"layout":"random","appVersions":"2..."}}
    """,
  ]
  let scripts = [
    """
    // a
    "DepotBuildConfig" { "DepotID" "1001" "contentroot" "..\\out\\" FileMapping { localpath "a\\b*.txt" DepotPath . recursive 1 }
     "FileMapping" { "LocalPath" "*" "DepotPath" "x/y" "Recursive" "1" } "FileExclusion" "[a]\\*" }
    """
  ]
  var retired = RetiredFiles()
  let files: [SitePath: UInt64] = [
    .version(digest): 40, .segment(SegmentID(site.id)): 1 << 40, .frames(SegmentID(site.id)): 0, .delta(digest): .max,
  ]
  retired.replace(files, by: [:], now: .max)
  let requests: [AgentRequest] = [.status, .refresh, .handOver("Game"), .event(.languageChange, app: "a")]
  let replies: [AgentReply] = [.status(process: 7), .done(packs: ["Game"]), .failed(reason: "no")]
  let packs: [AssetPack] = attributes.compactMap { try? Attributes(json: $0.utf8) }.map {
    AssetPack(id: "Game", version: 3, downloadByteCount: 9, attributes: $0, origin: .unknown)
  }
  // Messages by receiver.
  let messages: [[[UInt8]]] = [
    requests.map { $0.encode() }, replies.map { $0.encode() }, packs.map { FilterRequest($0).encode() },
    [FilterReply("Game", isWanted: true).encode()],
  ]
  var agentStreams: [[UInt8]] = []
  for (kind, messages) in messages.enumerated() {
    for message in messages { agentStreams.append([UInt8(kind), 200] + (try! MessageFrames.frame(message))) }
  }
  var journal = Journal()
  journal.apps["a"] = .init(version: "1.0")
  journal.language = try! LanguageTag("en-US")
  journal.packs[try! PackID(validating: "Game")] = .init(
    origin: .signed(key.publicKey, .standard), channel: .live, root: .init(serial: 1, sequence: 2))
  journal.requests[try! PackID(validating: "Game")] = .init(urgency: .essential, isPaused: true)
  journal.seen = [try! PackID(validating: "Game")]
  journal.registrations["a"] = .init(version: "1.0", propertyList: "/a.plist")
  journal.extensionTimes["a"] = .init(day: 20_000, milliseconds: 5)
  let propertyLists: [[UInt8]] =
    [
      #"<?xml version="1.0"?><plist version="1.0"><dict><key>BAAppGroupID</key><string>g</string><key>BAManifestURL</key><string>https://a/</string><key>BAHasManagedAssetPacks</key><true/></dict></plist>"#,
      #"{"BAAppGroupID": "g", "BAManifestURL": "https://a/", "PackStoreSites": [{"URL": "b", "Channel": "beta"}], "BAInitialDownloadRestrictions": {"BAEssentialDownloadAllowance": 7}}"#,
    ].map { Array($0.utf8) } + [
      Array(
        try! PropertyListSerialization.data(
          fromPropertyList: ["BAAppGroupID": "g", "BAManifestURL": "https://a/", "PackStoreSites": [["URL": "b"]]],
          format: .binary, options: 0))
    ]
  let blob = ObjectKey.blob(digest), file = ObjectKey.file(.version(digest)), owner = site.id
  var ledger = Ledger()
  let line = Array(String(repeating: "file\n", count: 100).utf8)
  ledger.committed = .init(
    image: Digest256(hashing: line), byteCount: UInt64(line.count), time: 1 << 30, copy: ImageCopy(of: line))
  ledger.finished = [owner]
  ledger.loose[.file(.delta(digest))] = 1 << 30
  ledger.deletions[file] = .init(job: owner, closes: 1 << 31)
  ledger.jobs[owner] = .init(
    leaseEnd: 1 << 31, base: digest, proposal: .init(image: digest, byteCount: 8), claims: [blob],
    intents: [.live: .init(root: digest, byteCount: 9, tag: ObjectTag("\"tag\""))])
  var image = SiteImage(site: SiteID(site.id), number: 3, before: digest)
  for path in ["CONTROL", "index/0123456789abcdef.run", "root", "versions/\(digest.hex)"].compactMap(
    SiteImage.Path.init)
  {
    image.files[path] = .init(byteCount: 5, digest: digest, retired: nil)
  }
  image.files[.index("0123456789abcdef.generation")] = .init(content: [1, 2, 3])
  if let path = SiteImage.Path("deltas/\(digest.hex)") {
    image.files[path] = .init(byteCount: 5, digest: digest, retired: .since(4))
  }
  let storageTexts = [
    "[default]\naws_access_key_id = A\naws_secret_access_key = B\n[profile x]\nregion = r\n",
    "<Error><Code>SlowDown</Code></Error>", "s3://assets/packs\ns3://a.b/c//d\ns3:///\n",
  ]
  var linked = root
  let record = try! linked.addToHistory(
    after: (root, try! root.encode(signedBy: release)), signedBy: release, privatePart: digest)
  let note = SealedChangeNote(ChangeNote(user: "a", jobURL: "https://b", commit: "c", note: "d"))
  return [
    "history": [record.bytes, note.bytes, SealedChangeNote(ChangeNote()).bytes, try! linked.encode(signedBy: release)],
    "journal": [try! journal.encode()], "plist": propertyLists,
    "language": ["en\nde\nen-GB", "zh-Hans\nzh-Hant-TW\nzh-HK", "no\nsr-Latn\nnb", "es-419\nes-MX"].map {
      Array($0.utf8)
    },
    "ledger": [try! ledger.encode(), try! Ledger().encode()],
    "image": [try! SignedSiteImage(image, of: .standard, signedBy: release).bytes],
    "storage": storageTexts.map { Array($0.utf8) },
    "agent": agentStreams,
    "retired": [
      retired.encode(), RetiredFiles().encode(), PublishedNumbers().encode(),
      PublishedNumbers().encode() + Array("1 00112233445566ff A\n9 ffffffffffffffff B.c-d\n".utf8),
      OfferHistory().encode() + Array("beta Game 1 2\nlive Game 3\n".utf8),
    ],
    "authoring": manifests.map { Array($0.utf8) }, "vdf": scripts.map { Array($0.utf8) },
    "json": jsons.map { Array($0.utf8) }, "attributes": attributes.map { Array($0.utf8) },
    "response": fields.map { Array($0.utf8) }, "url": urls.map { Array($0.utf8) },
    "netrc": netrcs.map { Array($0.utf8) },
    "root": [
      rootBytes, Array(rootBytes[..<8]) + [0, 0, 9, 0] + Array(rootBytes[12...]), try! root.encode(signedBy: release),
      try! root.encode(signedBy: nil), try! rollingRoot.encode(signedBy: release),
      try! rollingRoot.encode(signedBy: nil), try! releasingRoot.encode(signedBy: nil),
    ],
    "rollouts": [rollingRoot.rolloutBytes ?? []],
    "releases": [releasingRoot.releaseBytes ?? []],
    "sheet": [try! AttributeSheet(attributes.compactMap { try? Attributes(json: $0.utf8) }).encode()],
    "manifest": [manifestBytes], "archive": [archive],
    "tar": [Array(archive.prefix(512)), TarHeader(name: "x", byteCount: 1 << 40, modifiedAt: 1 << 40).encode()],
    "key": [
      key, next, next.noting(9), next.noting(9, revokedBelow: 8),
      next.noting(9, revokedBelow: 8, of: try! Store.Product("levels")), release,
    ].map { Array($0.fileText.utf8) } + [
      Array(key.publicKey.description.utf8)
    ],
    "site": [
      RememberedSite(
        root: rootBytes,
        validators: FileValidators(tag: "W/\"a-1\"", changedAt: "Sun, 06 Nov 1994 08:49:37 GMT"),
        sheets: [try! AttributeSheet([] as [Attributes]).encode()]
      ).encode(), RememberedSite(root: [0], validators: nil, sheets: []).encode(),
    ],
    "authority": keySetSeeds.authorities, "keyset": keySetSeeds.texts,
    "trust": [Array(trust.utf8)], "device": [Array(device.text.utf8)],
    "install": [
      #"{"catalog":"\#(String(repeating: "ab", count: 32))","date":"1","note":"git 3fa9c","pack":"P","version":1}"#,
      #"{"catalog":"\#(String(repeating: "00", count: 32))","channel":"live","date":"-1","from":"https://a/b","pack":"Q","version":2}"#,
    ].map { Array($0.utf8) },
  ]
}()
