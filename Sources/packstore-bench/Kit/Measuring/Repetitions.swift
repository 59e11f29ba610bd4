import Foundation

/// One participant of a comparison.
struct Turn {
  let name: String
  var isLimit = false
  /// Compares the participant's data with the source. Called once, before the first repetition; also warms caches.
  var check: () throws -> Void = {}
  /// Runs one repetition. Only the time in the returned sample counts.
  let measure: () throws -> Sample
}

/// The number of turns of each participant.
struct Repetitions {
  var count: Int
  /// The time in seconds after which repetitions end, but not before three repetitions.
  var secondLimit: Double
  /// Whether limits take turns, too.
  var includesLimits = true
}

extension Comparison {
  /// Runs every participant once per repetition. Each repetition begins with another participant, so that disturbances of the
  /// machine affect all equally.
  ///
  /// A participant that fails is recorded as absent, with the reason. The other participants continue.
  mutating func take(_ turns: [Turn], _ repetitions: Repetitions) {
    note("  \(title)" + (point.map { ", \(grouped($0.size)) \($0.axis)" } ?? ""))
    var turns = turns.filter { turn in
      (repetitions.includesLimits || !turn.isLimit) && attempt(turn) { try turn.check() } != nil
    }
    var samples: [String: [Sample]] = [:]
    let watch = Stopwatch()
    for repetition in 0..<repetitions.count {
      if repetition >= 3, watch.seconds > repetitions.secondLimit { break }
      for position in turns.indices {
        let turn = turns[(position + repetition) % turns.count]
        guard let sample = attempt(turn, turn.measure) else { continue }
        samples[turn.name, default: []].append(sample)
      }
      turns.removeAll { turn in absences.contains { $0.name == turn.name } }
    }
    entries = turns.map { Entry($0.name, isLimit: $0.isLimit, samples[$0.name] ?? []) }.filter { !$0.samples.isEmpty }
  }

  private mutating func attempt<Result>(_ turn: Turn, _ body: () throws -> Result) -> Result? {
    guard !absences.contains(where: { $0.name == turn.name }) else { return nil }
    Interruption.waitForTheEnd()
    do {
      return try body()
    } catch let error as Unavailable {
      absences.append(Absence(name: turn.name, reason: error.reason))
    } catch {
      absences.append(Absence(name: turn.name, reason: "failed: \(error)"))
    }
    note("    \(turn.name): \(absences.last!.reason)")
    return nil
  }
}
