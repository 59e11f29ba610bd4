import PackFormats
import PackStore

/// What a publisher knows of one channel of a site, and what it is to become.
struct ChannelState {
  let channel: SiteChannel

  /// The one on disk; nil: there is none yet, or it is damaged.
  private(set) var root: SiteRoot?
  private(set) var byteCount: UInt64 = 0

  /// The files that it leads to, without itself, and their lengths.
  private(set) var files: [SitePath: UInt64] = [:]

  /// What it is to offer.
  var plan: ChannelPlan

  /// It is to be closed: it offers nothing, and clients keep what they have.
  var isClosed: Bool

  /// The key may sign it. Others stay as they are.
  let isOwn: Bool

  /// The sequence number of the root; `nil` if the key revokes the delegation that signed the root.
  private var countedSequence: UInt64?

  /// Whether the key revokes the delegation that signed the root: then the root's epochs and highest numbers do not count.
  private(set) var isRevoked = false

  /// Whether the root is of the previous draft, which had no epochs.
  var isOfPreviousDraft = false

  /// Whether the root's epochs are unknown or do not count: then all offers of the next one have a new epoch.
  var hasUnknownEpochs: Bool { isRevoked || isOfPreviousDraft }

  /// The key signs by another word than that by which the root is signed: that is news to clients.
  private(set) var hasNewAuthority = false

  /// - Parameters:
  ///   - signed: the root, of which `files` are the files.
  ///   - key: nil: it may not sign the channel.
  init(
    _ channel: SiteChannel, _ signed: SignedSiteRoot?, byteCount: UInt64, files: [SitePath: UInt64], key: SiteKey?
  ) throws {
    self.channel = channel
    root = signed?.root
    self.byteCount = signed == nil ? 0 : byteCount
    self.files = files
    plan = root.map(ChannelPlan.init) ?? ChannelPlan()
    isClosed = root?.isClosed ?? false
    isOwn = key?.maySign(channel) ?? false
    guard let signed, let key, isOwn else { return }
    let next = try key.authority(for: signed.root.product)
    hasNewAuthority = !(signed.authority?.saysTheSame(as: next) ?? false)
    isRevoked = signed.authority.map { $0.delegation.serial < next.delegation.revokedBelow } ?? false
    countedSequence = isRevoked ? nil : signed.root.sequence
  }

  /// Whether it is to be as a root says.
  func says(_ root: SiteRoot) -> Bool { isClosed == root.isClosed && plan.saysTheSame(as: ChannelPlan(root)) }

  /// There is no root yet, and nothing to offer.
  var isNew: Bool { root == nil && plan.packs.isEmpty }

  /// The next number of a root.
  func nextSequence(at time: Int64) -> UInt64 { SiteRoot.nextSequence(after: countedSequence, at: time) }

  /// Raises the highest numbers in the root's table.
  mutating func raiseNumbers(to numbers: [PackID: UInt64]) {
    for (pack, number) in numbers {
      let known = root?.highest[pack]
      root?.highest[pack] = .init(number: max(number, known?.number ?? 0), epoch: known?.epoch ?? 0)
    }
  }

  /// Notes that a root is on disk now.
  mutating func take(_ next: SiteRoot, byteCount: UInt64, files: [SitePath: UInt64]) {
    root = next
    countedSequence = next.sequence
    hasNewAuthority = false
    isRevoked = false
    isOfPreviousDraft = false
    self.byteCount = byteCount
    self.files = files
  }
}
