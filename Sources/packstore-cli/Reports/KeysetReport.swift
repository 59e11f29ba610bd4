import PackAuthoring
import PackFormats
import PackStore

/// A key set, and the changes of a request.
struct KeysetReport: Encodable {
  enum Action: String, Encodable { case create, request, sign, complete, show }

  struct Keys: Encodable {
    /// The id that clients trust.
    let id: String
    let number: UInt32
    let need: Int
    let keys: [String]

    init(_ set: KeySet) {
      id = set.id.description
      number = set.number
      need = set.threshold
      keys = set.keys.map(\.description)
    }
  }

  struct Delegation: Encodable {
    let releaseKey, product: String
    let channels: [String]
    let serial: UInt64
    let ends: String?
    let revokesBelow: UInt64?

    init(_ terms: DelegationTerms) {
      releaseKey = terms.releaseKey.description
      product = terms.product.name
      channels = terms.channels.map(\.name)
      serial = terms.serial
      ends = terms.endsAt.map { formatDate(nanoseconds: $0) }
      revokesBelow = terms.revokedBelow > 0 ? terms.revokedBelow : nil
    }
  }

  let action: Action
  let file: String

  /// The id that identifies the publisher.
  let firstID: String
  let set: Keys

  /// The set that a request rotates to.
  let next: Keys?

  /// The keys that have to sign a request, in addition to as many as the threshold.
  let newHolders: [String]
  let delegations: [Delegation]

  /// The key that signed.
  let key: String?

  /// Delegations to keys whose files were not given.
  let texts: [String]

  init(
    _ file: KeySetFile, file name: String, action: Action, request: KeySetRequest? = nil, delegations: [String] = []
  ) {
    self.init(
      action, name, file.firstID, file.sets.last, action == .complete ? nil : request,
      delegations: request?.delegations ?? [],
      texts: delegations)
  }

  init(_ request: KeySetRequest, file name: String, action: Action, key: SitePublicKey?) {
    self.init(
      action, name, request.sets.firstID, request.sets.last, request, delegations: request.delegations, key: key)
  }

  private init(
    _ action: Action, _ file: String, _ first: SitePublicKey, _ set: KeySet, _ request: KeySetRequest?,
    delegations: [DelegationTerms], key: SitePublicKey? = nil, texts: [String] = []
  ) {
    self.action = action
    self.file = file
    firstID = first.description
    self.set = Keys(set)
    next = request?.next.map { Keys($0) }
    newHolders = request?.newHolders.map(\.description) ?? []
    self.delegations = delegations.map(Delegation.init)
    self.key = key?.description
    self.texts = texts
  }

  var lines: [String] {
    var lines = ["\(verb) '\(escaped(file))'"] + rows(of: set)
    if let next { lines += ["replaced by"] + rows(of: next) }
    for delegation in delegations {
      let channels = delegation.channels.isEmpty ? "all channels" : delegation.channels.joined(separator: ", ")
      lines += [
        "release key \(delegation.releaseKey)", "  product   \(delegation.product)", "  channels  \(channels)",
        "  until     \(delegation.ends ?? "without expiry")",
      ]
      if let serial = delegation.revokesBelow { lines.append("  revokes   all serials below \(serial)") }
    }
    if action == .request, !newHolders.isEmpty {
      lines += ["each of these keys has to sign"] + newHolders.map { "  \($0)" }
    }
    if let key { lines.append("signed by \(key)") }
    for text in texts {
      lines += ["lines for the file of the release key"] + text.split(separator: "\n").map(String.init)
    }
    return lines
  }

  private var verb: String {
    switch action {
    case .create: "created the key set in"
    case .request: "requested signatures for the key set in"
    case .sign: key == nil ? "would sign, and write" : "signed; the signatures are in"
    case .complete: "completed the key set in"
    case .show: "the key set in"
    }
  }

  private func rows(of set: Keys) -> [String] {
    ["  id        \(set.id)", "  set       \(set.number): \(set.need) of \(set.keys.count) keys"]
      + set.keys.map { "  key       \($0)" }
  }
}

extension ReportOptions {
  func show(_ report: KeysetReport) throws {
    let output = Output()
    if json { try output.json(report) } else if isTalkative { try output.lines(report.lines) }
    try output.flush()
  }
}
