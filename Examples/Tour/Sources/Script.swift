import BackgroundAssets

/// The tour without a terminal: commands, one a line, and plain text.
@MainActor final class Script {
  private let guide: Guide
  private var isFine = true

  init(_ guide: Guide) {
    self.guide = guide
    guide.onNews = { say("  . \($0)") }
  }

  static let help = """
    packs               what is here, and what there is
    get PACK            fetches a pack
    remove PACK         removes it
    portrait [FILE]     shows a file of the gallery; without a name, lists them
    play N              walks through the Nth cave by itself; downloads go on meanwhile
    language TAG        speaks another language
    update              asks for newer versions; they come while the tour goes on
    wait                until no download is under way
    free BYTES          gives up bytes that can be fetched again
    quit
    """

  /// What is done without commands.
  static let whole = ["packs", "portrait", "play 1", "play 2", "play 3", "update", "wait", "packs"]

  /// Follows commands until there are no more, or one is `quit`. False: one of them failed.
  func run(_ commands: AsyncStream<String>) async -> Bool {
    say(guide.texts["begin"])
    do {
      try await guide.begin()
    } catch {
      say("error: \(error)")
      return false
    }
    say("== \(guide.texts["title"]) ==")
    for await line in commands {
      let words = line.split(separator: " ").map(String.init)
      guard let command = words.first else { continue }
      say("> \(line)")
      if command == "quit" { break }
      do {
        try await follow(command, words.dropFirst().joined(separator: " "))
      } catch {
        isFine = false
        say("error: \(error)")
      }
      say("ok")
    }
    return isFine
  }

  private struct Misuse: Error, CustomStringConvertible { let description: String }

  private func follow(_ command: String, _ argument: String) async throws {
    switch command {
    case "packs": await list()
    case "get": try await guide.fetch(argument)
    case "remove": try await guide.manager.remove(assetPackWithID: argument)
    case "portrait": try await portrait(argument)
    case "play": try await play(argument)
    case "language":
      try await guide.speak(argument)
      say("\(guide.language): \(guide.texts["title"])")
    case "update":
      let (updating, removed) = try await guide.update()
      say("updating: \(updating.sorted().joined(separator: " ")); removed: \(removed.sorted().joined(separator: " "))")
    case "wait": await guide.settle()
    case "free":
      let freed = try await guide.manager.store.purge(bytes: Int(argument) ?? 0)
      say("freed \(size(freed.freedByteCount))")
    default: throw Misuse(description: "there is no command '\(command)':\n\(Self.help)")
    }
  }

  private func list() async {
    await guide.refresh()
    for pack in guide.packs {
      let version = pack.version.map { "@\($0)" } ?? ""
      let name = (pack.id + version).padding(toLength: 16, withPad: " ", startingAt: 0)
      say(
        "  \(name) \(guide.describe(pack.state).padding(toLength: 14, withPad: " ", startingAt: 0)) \(size(pack.byteCount))"
      )
    }
  }

  private func portrait(_ name: String) async throws {
    guard !name.isEmpty else {
      for name in guide.exhibitNames { say("  \(name)") }
      return
    }
    let bytes = try await guide.exhibit(name)
    var canvas = Canvas(columns: 32, rows: 16)
    canvas.put(Portrait.picture(of: bytes, side: 32), row: 0, column: 0, .none)
    say(canvas.plain)
    say(
      "\(name): \(size(bytes.count)), of which the first four are \(bytes.prefix(4).map { String(format: "%02x", $0) }.joined(separator: " "))"
    )
  }

  private func play(_ number: String) async throws {
    let files = guide.caveFiles
    guard let place = Int(number), files.indices.contains(place - 1) else {
      throw Misuse(description: "there are caves 1 to \(files.count)")
    }
    var cave = try await guide.cave(files[place - 1])
    say("\(cave.name): \(cave.crystals.count) \(guide.texts["crystals"])")
    while !cave.isSolved {
      guard let step = cave.hint else { throw Misuse(description: "\(cave.name) has no way out") }
      cave.go(step)
      // As a person would walk, and quicker.
      try await Task.sleep(for: .milliseconds(5))
    }
    var canvas = Canvas(columns: cave.columns, rows: cave.rows)
    CaveView(depth: .none, stone: nil).draw(cave, on: &canvas, rows: 0..<cave.rows)
    say(canvas.plain)
    say("\(guide.texts["solved"]): \(cave.stepCount) \(guide.texts["steps"])")
  }
}

/// A line on standard output, at once.
func say(_ text: String) { _ = try? FileDescriptor.standardOutput.writeAll("\(text)\n".utf8) }
