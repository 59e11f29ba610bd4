import ArgumentParser
import PackDelivery
import PackStore

struct Import: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Take the version of a pack that an archive holds.",
    discussion: """
      Makes the store when there is none. What is stored in the archive is taken as it is, without compressing it again; \
      what the store has already stays. 'packstore package' makes archives.

      The pack belongs to the key and the product that the archive names: archives of others are refused later, unless \
      '--adopt' is said, and so are lower versions, unless '--downgrade' is. '--trust' names the key that the publisher \
      gave you.

        packstore import Packs Tutorial.pack
        packstore import Packs Tutorial.pack --trust 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The archive.", completion: .file())
  var file: String

  @Option(
    help: .init("Take only what this public key signed.", valueName: "key"), transform: parsePublicKey)
  var trust: SitePublicKey?

  @Flag(help: "Take the pack over if it is of another origin; their history goes.")
  var adopt = false

  @Flag(help: "Take a version that is lower than the one that was accepted last.")
  var downgrade = false

  @Flag(help: "Take an archive that is not signed.")
  var allowUnsigned = false

  @Option(help: .init("How many versions of the pack stay readable, the new one included.", valueName: "n"))
  var keep = 2

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep goes from 1 to 1000, not \(keep)") }
  }

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    try requireArchive(file)  // first: a mistyped name must not make a store
    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    let result = try await Store(at: FilePath(store.store), options: wait.storeOptions).pull(
      from: file, options: options
    ) {
      bar.update(Progress($0))
    }
    bar.finish()
    try say(result)
  }

  private var options: Store.PullOptions {
    .init(
      trustedKey: trust, adopts: adopt, allowsDowngrade: downgrade, allowsUnsigned: allowUnsigned,
      waitsForWriters: !wait.noWait, keptVersionCount: keep)
  }

  private func say(_ result: Store.PullResult) throws {
    if !report.quiet, result.isFirstContact, let key = result.key {
      warn(
        "this pack is taken from the key \(key) from now on; compare it with what the publisher says"
      )
    }
    for pack in result.packs where pack.outcome == .held {
      throw Failure(
        .held, "'\(pack.pack)' is held at version \(pack.from ?? 0) since a rollback",
        remedy: "let it move again with 'packstore unpin \(escaped(store.store)) \(pack.pack)'", pack: pack.pack)
    }
    let output = Output()
    if report.json {
      try output.json(result.packs.map(ImportReport.init))
    } else if report.isTalkative {
      try output.lines(result.packs.map(line))
    }
    try output.flush()
  }

  private func line(_ pack: Store.PullResult.Pack) -> String {
    guard pack.outcome == .updated else { return "\(pack.pack) is at version \(pack.from ?? 0) already" }
    let whence = pack.from.map { ", from \($0)" } ?? ""
    return "\(pack.pack) is at version \(pack.to ?? 0)\(whence); \(formatBytes(pack.newStoredByteCount)) stored"
  }
}

@Sendable func parsePublicKey(_ text: String) throws -> SitePublicKey {
  guard let key = SitePublicKey(text) else {
    throw ValidationError("a public key is 44 characters, as 'packstore keygen' prints it")
  }
  return key
}

private struct ImportReport: Encodable {
  let pack, outcome: String
  let from, to: UInt64?
  let newChunks, newStoredBytes: Int

  init(_ pack: Store.PullResult.Pack) {
    self.pack = pack.pack.name
    outcome = pack.outcome.word
    from = pack.from
    to = pack.to
    newChunks = pack.newChunkCount
    newStoredBytes = pack.newStoredByteCount
  }
}
