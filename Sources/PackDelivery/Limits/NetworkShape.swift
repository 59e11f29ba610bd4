/// How a network behaves that is played: terms with commas between, such as `100kbps,latency=300ms,loss=5%`.
///
/// | term | what |
/// |---|---|
/// | `none` | nothing can be reached |
/// | `metered` | bytes cost money, which `DownloadRules` ask about |
/// | `100kbps`, `2Mbps` | how many bits come in a second, of all transfers together |
/// | `latency=300ms` | after how long an answer begins: one round trip |
/// | `loss=5%` | of how many segments in a hundred the first copy is lost: each holds its transfer up for one retransmission time |
/// | `reset=2%` | of how many requests in a hundred the connection is reset on the way; a tenth of `loss` where it is not said |
package struct NetworkShape: Hashable, Sendable {
  package var isOffline = false
  package var isMetered = false
  /// Nil: as fast as they come.
  package var bytesPerSecond: Int?
  package var latency = Duration.zero
  /// Shares of one.
  package var loss = 0.0
  package var resets = 0.0

  package init() {}

  /// Why a text is no shape.
  package struct Fault: Error, Hashable, Sendable {
    package let text: String
  }

  /// Above, a server counts as one that does not answer.
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

  /// How long a lost segment takes to be sent again: two round trips, and no less than Linux waits.
  package var retransmissionTime: Duration { max(.milliseconds(200), latency * 2) }
}
