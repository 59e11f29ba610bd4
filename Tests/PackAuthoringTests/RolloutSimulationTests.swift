import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// A release in steps to 100,000 devices over 48 hours, with a pause, a halt and wrong clocks. The product's code edits the release
/// and selects the offers; time and devices are simulated from a fixed seed.
@Suite struct RolloutSimulationTests {
  private static let hour: Int64 = 3_600_000_000_000
  private static let start: Int64 = 1_800_000_000_000_000_000
  private static let deviceCount = 100_000
  private static let hours = 48
  private static let pollHours = 6

  /// The fault of a device's clock or network.
  private enum Kind: Int, CaseIterable {
    /// A right clock, and a server that sends dates.
    case right
    /// A clock that is two days ahead, and a server that sends dates.
    case fast
    /// A clock that is two days ahead, and a server without dates.
    case fastWithoutDate
    /// A clock that is 20 hours behind.
    case slow
    /// A right clock, and a network that withholds each root for 12 hours.
    case withheld
  }

  private struct Device {
    let client: SiteClient
    let kind: Kind
    let phase: Int
    var hasVersion = false

    init(_ generator: inout SeededGenerator) {
      var bytes: [UInt8] = []
      for _ in 0..<2 { withUnsafeBytes(of: generator.next().littleEndian) { bytes += $0 } }
      client = SiteClient(device: DeviceID(ID128(copying: bytes[...])))
      switch generator.next() % 100 {
      case 0..<5: kind = .fast
      case 5..<10: kind = .fastWithoutDate
      case 10..<15: kind = .slow
      case 15..<20: kind = .withheld
      default: kind = .right
      }
      phase = Int(generator.next() % UInt64(RolloutSimulationTests.pollHours))
    }

    /// The device's time at the hour `now`, when it received a root of the hour `root`.
    func time(at now: Int64, madeAt: Int64) -> Int64 {
      let offset =
        RolloutSimulationTests.hour * (kind == .slow ? -20 : kind == .fast || kind == .fastWithoutDate ? 48 : 0)
      return SelectionTime(
        acceptedAt: madeAt, clock: now + offset, answeredAt: kind == .fastWithoutDate ? nil : now
      ).nanoseconds
    }
  }

  /// The roots, by the hour of their dates: 1 % at once, then a step every six hours; a pause from hour 20 to hour 26, and a halt at
  /// hour 42, before the last step.
  private func roots() throws -> [(hour: Int, root: SiteRoot)] {
    var offer = ChannelPlan.Offer(number: 2), roots: [(Int, SiteRoot)] = []
    try RolloutSchedule("1,2,5,10,20,50,100", every: .seconds(6 * 3_600)).start(&offer, of: "A", at: Self.start)
    for (hour, action) in [(0, nil), (20, .pause), (26, .resume), (42, .halt)] as [(Int, RolloutAction?)] {
      let time = Self.start + Int64(hour) * Self.hour
      if let action {
        try offer.apply(action, to: "A", at: RolloutMoment(time: time, end: roots.last?.1.horizonEnd ?? .max))
      }
      var root = SiteRoot(
        sequence: UInt64(hour + 1), madeAt: time, expiresAfter: 400 * 24 * Self.hour,
        site: SiteID(ID128(copying: [UInt8](repeating: 1, count: 16)[...])), product: .standard,
        packs: [
          .init(
            id: "A", priority: 0,
            offers: [
              SiteRoot.Offer(
                number: 2, catalog: CatalogID(digest: .zero), manifest: .zero, manifestByteCount: 1, share: offer.share,
                rollout: offer.rollout)
            ], deltas: [])
        ])
      root.horizon = 24 * Self.hour
      roots.append((hour, root))
    }
    return roots
  }

  private func percent(_ count: Int, of total: Int) -> String {
    String(format: "%5.1f", total > 0 ? 100 * Double(count) / Double(total) : 0)
  }

  @Test func devicesFollowTheSchedule() throws {
    let roots = try roots()
    func root(at hour: Int) -> SiteRoot { roots.last { $0.hour <= max(hour, 0) }?.root ?? roots[0].root }
    var generator = SeededGenerator(state: 42)
    var devices = (0..<Self.deviceCount).map { _ in Device(&generator) }
    var lines = ["hour  state   schedule  all  right  fast  fast-without-date  slow  withheld"]
    for hour in 0...Self.hours {
      let now = Self.start + Int64(hour) * Self.hour, current = root(at: hour)
      let limit = current.share(of: current.packs[0].offers[0], at: now)
      for index in devices.indices where devices[index].phase == hour % Self.pollHours && !devices[index].hasVersion {
        let device = devices[index], seen = device.kind == .withheld ? root(at: hour - 12) : current
        let selection = OfferSelection(
          of: seen.packs[0], in: seen, signedBy: nil, for: device.client, at: device.time(at: now, madeAt: seen.madeAt),
          platforms: { _ in [] }, isCurrent: { _ in false }, storeDevice: { nil })
        devices[index].hasVersion = selection.offer != nil
        guard selection.offer != nil, ![.withheld, .fastWithoutDate].contains(device.kind) else { continue }
        let version = OfferedVersion(pack: "A", number: 2, product: .standard, firstKey: nil)
        #expect(
          device.client.device.map(version.draw).map { $0 < limit } == true, "hour \(hour): a device before its step")
      }
      lines.append(line(hour, current, limit, devices))
    }
    try check(lines)
    let right = devices.filter { $0.kind == .right }
    let share = Double(right.count { $0.hasVersion }) / Double(right.count)
    #expect(0.49...0.51 ~= share, "the halt came after the step to 50 %")
  }

  private func line(_ hour: Int, _ root: SiteRoot, _ limit: UInt32, _ devices: [Device]) -> String {
    let state = root.packs[0].offers[0].rollout.map { "\($0.state)" } ?? ""
    var columns = [percent(devices.count { $0.hasVersion }, of: devices.count)]
    for kind in Kind.allCases {
      let some = devices.filter { $0.kind == kind }
      columns.append(percent(some.count { $0.hasVersion }, of: some.count))
    }
    let head = String(
      format: "%4d  %@  %5.1f", hour, state.padding(toLength: 6, withPad: " ", startingAt: 0), Double(limit) / 100)
    return head + "  " + columns.joined(separator: "  ")
  }

  /// Compares the table with the file in Benchmarks/Results, and writes the file if `PACKSTORE_WRITE_RESULTS` is set.
  private func check(_ lines: [String]) throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = repository.appending(path: "Benchmarks/Results/rollout-simulation.txt")
    let text = lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["PACKSTORE_WRITE_RESULTS"] != nil { try Data(text.utf8).write(to: file) }
    let known = try String(contentsOf: file, encoding: .utf8)
    #expect(known == text, "the table changed; set PACKSTORE_WRITE_RESULTS=1 and run the test again")
  }
}
