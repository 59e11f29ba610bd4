import BackgroundAssets

/// A level: a cave with crystals to gather, and a way out that opens when all are gathered.
///
/// A file of text: the first line is the name, each other a row. `#` is rock, `*` a crystal, `@` where one begins, `>` the way out.
struct Cave {
  struct Place: Hashable {
    var x: Int
    var y: Int

    func next(_ step: Step) -> Place {
      switch step {
      case .up: Place(x: x, y: y - 1)
      case .down: Place(x: x, y: y + 1)
      case .left: Place(x: x - 1, y: y)
      case .right: Place(x: x + 1, y: y)
      }
    }
  }

  enum Step: CaseIterable { case up, down, left, right }

  let name: String
  let columns: Int
  let rows: Int
  let exit: Place
  let start: Place
  private let rock: Set<Place>
  private(set) var crystals: Set<Place>
  private(set) var player: Place
  private(set) var stepCount = 0
  /// What has been in the light of the torch.
  private(set) var seen: Set<Place> = []

  struct Invalid: Error, CustomStringConvertible { let description: String }

  init(_ data: Data) throws {
    let lines = String(decoding: data.prefix(1 << 16), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: true)
    var rock: Set<Place> = [], crystals: Set<Place> = [], start: Place?, exit: Place?
    for (y, line) in lines.dropFirst().enumerated() {
      for (x, character) in line.enumerated() {
        let place = Place(x: x, y: y)
        switch character {
        case "#": rock.insert(place)
        case "*": crystals.insert(place)
        case "@": start = place
        case ">": exit = place
        default: break
        }
      }
    }
    guard let name = lines.first, let start, let exit else {
      throw Invalid(description: "this is no level: a name, a start and a way out are needed")
    }
    self.name = String(name)
    self.rock = rock
    self.crystals = crystals
    self.start = start
    self.exit = exit
    columns = lines.dropFirst().map(\.count).max() ?? 0
    rows = lines.count - 1
    player = start
    look()
  }

  func isRock(_ place: Place) -> Bool {
    rock.contains(place) || place.x < 0 || place.y < 0 || place.x >= columns || place.y >= rows
  }

  var isOpen: Bool { crystals.isEmpty }
  var isSolved: Bool { isOpen && player == exit }

  /// Goes a step, if rock is not in the way.
  mutating func go(_ step: Step) {
    let next = player.next(step)
    guard !isSolved, !isRock(next) else { return }
    player = next
    stepCount += 1
    crystals.remove(next)
    look()
  }

  static let torch = 6

  private mutating func look() {
    for y in -Self.torch...Self.torch {
      for x in -Self.torch...Self.torch where x * x + y * y <= Self.torch * Self.torch {
        seen.insert(Place(x: player.x + x, y: player.y + y))
      }
    }
  }

  // MARK: - The way

  /// The next step of a player who knows the cave: to the nearest crystal, then out. Nil: there is no way.
  var hint: Step? {
    let goals = isOpen ? [exit] : crystals
    var cameBy: [Place: Step] = [:]
    var reached: Set<Place> = [player]
    var edge = [player]
    while !edge.isEmpty {
      var further: [Place] = []
      for place in edge {
        for step in Step.allCases {
          let next = place.next(step)
          guard !isRock(next), reached.insert(next).inserted else { continue }
          let first = cameBy[place] ?? step
          if goals.contains(next) { return first }
          cameBy[next] = first
          further.append(next)
        }
      }
      edge = further
    }
    return nil
  }

  /// How many steps such a player needs from the start. Nil: there is no way.
  var par: Int? {
    var cave = self
    cave.player = start
    cave.stepCount = 0
    while !cave.isSolved {
      guard let step = cave.hint else { return nil }
      cave.go(step)
    }
    return cave.stepCount
  }
}
