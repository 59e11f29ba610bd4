import PackFormats
import PackStore

/// The current and the planned state of one channel of a site.
struct ChannelState {
  let channel: SiteChannel

  /// The root on disk; `nil` if it is missing or damaged.
  private(set) var root: SiteRoot?
  private(set) var byteCount: UInt64 = 0

  /// The files that the root refers to, without the root itself, and their lengths.
  private(set) var files: [SitePath: UInt64] = [:]

  /// The planned offers.
  var plan: ChannelPlan

  /// Whether the channel will be closed: it then offers nothing, and clients keep their packs.
  var isClosed: Bool

  /// Whether the key may sign the channel. Other channels are not changed.
  let isOwn: Bool

  /// The sequence number of the root; `nil` if the key revokes the delegation that signed the root.
  private var countedSequence: UInt64?

  /// Whether the key revokes the delegation that signed the root: the root's epochs and highest numbers are then invalid.
  private(set) var isRevoked = false

  /// Whether the root has the format of the previous draft, which did not have epochs.
  var isOfPreviousDraft = false

  /// Whether the root's epochs are unknown or not valid. All offers of the next root then have a new epoch.
  var hasUnknownEpochs: Bool { isRevoked || isOfPreviousDraft }

  /// Whether the key has another delegation than the root's signer. Clients must learn the new delegation.
  private(set) var hasNewAuthority = false

  /// - Parameters:
  ///   - signed: the root, which refers to `files`.
  ///   - key: `nil` if it may not sign the channel.
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

  /// Whether the planned state equals the state in a root.
  func says(_ root: SiteRoot) -> Bool { isClosed == root.isClosed && plan.saysTheSame(as: ChannelPlan(root)) }

  /// Whether the channel has no root, and no planned offers.
  var isNew: Bool { root == nil && plan.packs.isEmpty }

  /// Returns the number of the next root.
  func nextSequence(at time: Int64) -> UInt64 { SiteRoot.nextSequence(after: countedSequence, at: time) }

  /// Raises the highest numbers in the root's table.
  mutating func raiseNumbers(to numbers: [PackID: UInt64]) {
    for (pack, number) in numbers {
      let known = root?.highest[pack]
      root?.highest[pack] = .init(number: max(number, known?.number ?? 0), epoch: known?.epoch ?? 0)
    }
  }

  /// Records that a root is on disk now.
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
