/// The behaviour of a simulated network: terms separated by commas, such as `100kbps,latency=300ms,loss=5%`.
///
/// | term | meaning |
/// |---|---|
/// | `none` | nothing can be reached |
/// | `metered` | bytes cost money, which `DownloadRules` consider |
/// | `100kbps`, `2Mbps` | bits received per second, for all transfers together |
/// | `latency=300ms` | the time until an answer begins: one round trip |
/// | `loss=5%` | the share of segments whose first copy is lost: each delays its transfer by one retransmission time |
/// | `reset=2%` | the share of requests whose connection is reset during the transfer; by default a tenth of `loss` |
package struct NetworkShape: Hashable, Sendable {
  package var isOffline = false
  package var isMetered = false
  /// `nil`: no limit.
  package var bytesPerSecond: Int?
  package var latency = Duration.zero
  /// The share, from 0 to 1.
  package var loss = 0.0
  package var resets = 0.0

  package init() {}

  /// The fault in an invalid text.
  package struct Fault: Error, Hashable, Sendable {
    package let text: String
  }

  /// Above this, a server counts as not answering.
  private static let latencyLimit = Duration.seconds(10)

  /// - Throws: ``Fault``.
  package init(_ text: String) throws {
    var resets: Double?
    for term in text.split(separator: ",", omittingEmptySubsequences: false) {
      if let match = term.wholeMatch(of: /latency=([0-9]{1,6})(ms|s)/), let number = Int64(match.1) {
        latency = match.2 == "s" ? .seconds(number) : .milliseconds(number)
        guard latency <= Self.latencyLimit else { throw Fault(text: "latency goes up to 10 s, not \(term)") }
      } else if let match = term.wholeMatch(of: /(loss|reset)=([0-9]{1,2}(?:\.[0-9]{1,3})?)%/),
        let number = Double(match.2)
      {
        guard number <= 50 else { throw Fault(text: "\(match.1) goes up to 50%, not \(term)") }
        if match.1 == "loss" { loss = number / 100 } else { resets = number / 100 }
      } else if let match = term.wholeMatch(of: /([0-9]{1,9})(bps|kbps|Mbps|Gbps)/), let number = Int(match.1) {
        let unit = ["bps": 1, "kbps": 1000, "Mbps": 1_000_000, "Gbps": 1_000_000_000][String(match.2)] ?? 1
        let (bits, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows, bits >= 8 else { throw Fault(text: "'\(term)' is no rate: say such as 100kbps") }
        bytesPerSecond = bits / 8
      } else {
        switch term {
        case "none": isOffline = true
        case "metered": isMetered = true
        default:
          throw Fault(
            text: "'\(term)' says nothing of a network: say none, metered, 100kbps, latency=300ms, loss=5% or reset=1%")
        }
      }
    }
    self.resets = resets ?? loss / 10
  }

  /// The time to send a lost segment again: two round trips, and at least the minimum of Linux.
  package var retransmissionTime: Duration { max(.milliseconds(200), latency * 2) }
}
