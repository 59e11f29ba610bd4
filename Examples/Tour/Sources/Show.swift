import BackgroundAssets

/// The tour in a terminal: a list of what there is, caves to walk through, and portraits to look at.
@MainActor final class Show {
  private let guide: Guide
  private var terminal: Terminal?
  private var screen = Screen.lobby
  private var selected = 0
  /// What is chosen, by its name; nil: what is first.
  private var chosen: String?
  private var news = ""
  /// Fewer steps first: what was needed for a cave.
  private var best: [String: Int] = [:]
  /// Which of the things that a person opened is to be shown: the last one.
  private var openedCount = 0
  private var hasBegun = false
  private var isOver = false
  private var failure: (any Error)?

  private enum Screen {
    case lobby
    case cave(CaveVisit)
    case portrait(name: String, bytes: Data)
  }

  private struct CaveVisit {
    let file: String
    var cave: Cave
    let stone: Picture?
    let par: Int?
    var walksAlone = false
  }

  private enum Item: Hashable {
    case cave(String)
    case exhibit(String)
    case pack(Guide.Pack)

    /// What it is, whatever becomes of it.
    var name: String {
      switch self {
      case .cave(let file): "cave \(file)"
      case .exhibit(let file): "exhibit \(file)"
      case .pack(let pack): "pack \(pack.id)"
      }
    }
  }

  init(_ guide: Guide) {
    self.guide = guide
    guide.onNews = { [weak self] in self?.tell($0) }
  }

  /// Returns when the person has had enough. False: the app could not be set up.
  func run() async -> Bool {
    let (events, feed) = AsyncStream.makeStream(of: Terminal.Event?.self)
    let terminal = Terminal { feed.yield($0) }
    self.terminal = terminal
    // Caves in which the player walks alone, and bars of progress.
    let ticking = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .milliseconds(70))
        feed.yield(nil)
      }
    }
    let beginning = Task {
      do {
        try await guide.begin()
        hasBegun = true
      } catch {
        failure = error
        feed.yield(.key(.quit))
      }
    }
    draw()
    for await event in events {
      switch event {
      case .key(let key): take(key)
      case .resized: break
      case nil: walk()
      }
      if isOver { break }
      draw()
    }
    beginning.cancel()
    ticking.cancel()
    terminal.close()
    if let failure { say("error: \(failure)") }
    return failure == nil
  }

  private func tell(_ text: String) { news = text }

  /// Something that takes time, while the screen stays alive.
  private func start(_ body: @escaping @MainActor () async throws -> String) {
    Task {
      do {
        tell(try await body())
      } catch {
        tell("\(error)")
      }
    }
  }

  // MARK: - Keys

  private func take(_ key: Key) {
    switch key {
    case .quit, .character("q"): isOver = true
    case .character("u"):
      start { [guide] in
        let updating = try await guide.update().updatingIDs
        await guide.refresh()
        return updating.isEmpty
          ? guide.texts["here"] : "\(guide.texts["coming"]): \(updating.sorted().joined(separator: ", "))"
      }
    case .character("l"): speakNext()
    case .character("f"):
      start { [guide] in "-\(size(try await guide.manager.store.purge(bytes: 1 << 40).freedByteCount))" }
    default:
      switch screen {
      case .lobby: takeInLobby(key)
      case .cave(let visit): takeInCave(key, visit)
      case .portrait(let name, _): takeAtPortrait(key, name)
      }
    }
  }

  private func speakNext() {
    let languages = guide.languages
    guard !languages.isEmpty else { return }
    let next = languages[((languages.firstIndex(of: guide.language) ?? -1) + 1) % languages.count]
    start { [guide] in
      try await guide.speak(next)
      return guide.texts["title"]
    }
  }

  private func takeInLobby(_ key: Key) {
    let items = items, selected = place(in: items)
    switch key {
    case .up, .character("k"): choose(selected - 1, in: items)
    case .down, .character("j"): choose(selected + 1, in: items)
    case .enter, .character(" "):
      if items.indices.contains(selected) { open(items[selected]) }
    case .character("r"):
      guard items.indices.contains(selected), case .pack(let pack) = items[selected] else { return }
      start { [guide] in
        try await guide.manager.remove(assetPackWithID: pack.id)
        return "-\(pack.id)"
      }
    default: break
    }
  }

  /// Where in the list the chosen one is now: what came meanwhile has moved it.
  private func place(in items: [Item]) -> Int {
    chosen.flatMap { name in items.firstIndex { $0.name == name } } ?? max(min(selected, items.count - 1), 0)
  }

  private func choose(_ number: Int, in items: [Item]) {
    selected = max(min(number, items.count - 1), 0)
    chosen = items.indices.contains(selected) ? items[selected].name : nil
  }

  /// Shows something, which may have to be fetched first: the screen stays alive, and whatever a person opens next goes before.
  private func open(_ item: Item) {
    if case .pack(let pack) = item { return control(pack) }
    openedCount += 1
    let number = openedCount
    Task {
      do {
        let screen = try await screen(of: item)
        if number == openedCount { self.screen = screen }
      } catch {
        tell("\(error)")
      }
    }
  }

  private func screen(of item: Item) async throws -> Screen {
    switch item {
    case .cave(let file):
      let cave = try await guide.cave(file)
      return .cave(CaveVisit(file: file, cave: cave, stone: guide.stone(of: file), par: cave.par))
    case .exhibit(let name): return .portrait(name: name, bytes: try await guide.exhibit(name))
    case .pack: return .lobby
    }
  }

  private func leave() {
    // What is still to come is not wanted any more.
    openedCount += 1
    screen = .lobby
  }

  private func control(_ pack: Guide.Pack) {
    switch pack.state {
    case .here: break
    case .coming: guide.manager.pauseDownload(ofAssetPackWithID: pack.id)
    case .paused: guide.manager.resumeDownload(ofAssetPackWithID: pack.id)
    case .newer, .missing, .purged:
      start { [guide] in
        if pack.state == .newer { _ = try await guide.update() } else { try await guide.fetch(pack.id) }
        return pack.id
      }
    }
  }

  private func takeInCave(_ key: Key, _ visit: CaveVisit) {
    var visit = visit
    let steps: [Key: Cave.Step] = [.up: .up, .down: .down, .left: .left, .right: .right]
    switch key {
    case .back: return leave()
    case .character("a"): visit.walksAlone.toggle()
    case .character("r"): return open(.cave(visit.file))
    case .enter where visit.cave.isSolved: return leave()
    default: if let step = steps[key] { visit.cave.go(step) }
    }
    note(visit)
  }

  /// A step of a player who walks alone.
  private func walk() {
    guard case .cave(var visit) = screen, visit.walksAlone, let step = visit.cave.hint else { return }
    visit.cave.go(step)
    note(visit)
  }

  private func note(_ visit: CaveVisit) {
    var visit = visit
    if visit.cave.isSolved {
      best[visit.file] = min(best[visit.file] ?? .max, visit.cave.stepCount)
      visit.walksAlone = false
    }
    screen = .cave(visit)
  }

  private func takeAtPortrait(_ key: Key, _ name: String) {
    let names = guide.exhibitNames
    let place = names.firstIndex(of: name) ?? 0
    switch key {
    case .back, .enter: leave()
    case .left, .right, .character(" "):
      guard !names.isEmpty else { return }
      open(.exhibit(names[(place + (key == .left ? names.count - 1 : 1)) % names.count]))
    default: break
    }
  }

  // MARK: - Drawing

  private func draw() {
    guard let terminal else { return }
    var canvas = terminal.canvas
    if canvas.columns < 20 || canvas.rows < 6 {
      canvas.center(guide.texts["small"], row: canvas.rows / 2)
    } else {
      switch screen {
      case .lobby: drawLobby(&canvas)
      case .cave(let visit): drawCave(visit, &canvas)
      case .portrait(let name, let bytes): drawPortrait(name, bytes, &canvas)
      }
      drawDownloads(&canvas)
    }
    terminal.show(canvas)
  }

  private var items: [Item] {
    guide.caveFiles.map { .cave($0) } + guide.exhibitNames.map { .exhibit($0) } + guide.packs.map { .pack($0) }
  }

  private func drawLobby(_ canvas: inout Canvas) {
    canvas.center(guide.texts["title"], row: 0, ink: .gold)
    canvas.put(guide.language, row: 0, column: canvas.columns - guide.language.count - 1, ink: .gray)
    guard hasBegun else { return canvas.center(guide.texts["begin"] + " ...", row: canvas.rows / 2, ink: .gray) }
    var lines: [(text: String, ink: Color)] = []
    let items = items, selected = place(in: items)
    var chosenLine = 0, heading = ""
    for (number, item) in items.enumerated() {
      let (title, text, ink) = line(item)
      if title != heading {
        if !heading.isEmpty { lines.append(("", .gray)) }
        lines.append((title, .gold))
        heading = title
      }
      if number == selected { chosenLine = lines.count }
      lines.append(((number == selected ? "> " : "  ") + text, number == selected ? .white : ink))
    }
    // The chosen line stays in sight.
    let room = canvas.rows - 4
    let first = max(0, min(chosenLine - room / 2, lines.count - room))
    for (row, line) in lines.dropFirst(first).prefix(room).enumerated() {
      canvas.put(line.text, row: row + 1, column: 1, ink: line.ink)
    }
    var keys = guide.texts["keys"]
    if items.indices.contains(selected), case .pack = items[selected] { keys = guide.texts["packkeys"] }
    canvas.put(keys, row: canvas.rows - 1, column: 1, ink: .gray)
  }

  private func line(_ item: Item) -> (heading: String, text: String, ink: Color) {
    switch item {
    case .cave(let file):
      let name = (FilePath(file).stem ?? file).split(separator: "-").map(\.capitalized).joined(separator: " ")
      let record = best[file].map { "  \($0) \(guide.texts["steps"])" } ?? ""
      return (guide.texts["caves"], name + record, best[file] == nil ? .gray : .green)
    case .exhibit(let name): return (guide.texts["portraits"], name, .gray)
    case .pack(let pack):
      let name = (pack.id + (pack.version.map { "@\($0)" } ?? "")).padding(toLength: 13, withPad: " ", startingAt: 0)
      let ink: Color = pack.state == .here ? .green : pack.state == .purged ? .red : .gray
      return (guide.texts["packs"], "\(name) \(guide.describe(pack.state))  \(size(pack.byteCount))", ink)
    }
  }

  private func drawCave(_ visit: CaveVisit, _ canvas: inout Canvas) {
    let cave = visit.cave
    canvas.center(cave.name, row: 0, ink: .gold)
    CaveView(depth: terminal?.colorDepth ?? .none, stone: visit.stone)
      .draw(cave, on: &canvas, rows: 1..<max(canvas.rows - 3, 2))
    var state = "\(cave.stepCount) \(guide.texts["steps"]), \(cave.crystals.count) \(guide.texts["crystals"])"
    if cave.isSolved {
      state =
        "\(guide.texts["solved"]): \(cave.stepCount) \(guide.texts["steps"])"
        + (visit.par.map { ", \(guide.texts["par"]): \($0)" } ?? "")
    }
    canvas.put(state, row: canvas.rows - 3, column: 1, ink: cave.isSolved ? .green : .white)
    canvas.put(guide.texts["cavekeys"], row: canvas.rows - 1, column: 1, ink: .gray)
  }

  private func drawPortrait(_ name: String, _ bytes: Data, _ canvas: inout Canvas) {
    let room = min(canvas.columns, (canvas.rows - 4) * 2)
    var side = 2
    while side * 2 <= room { side *= 2 }
    canvas.put(
      Portrait.picture(of: bytes, side: side), row: 1, column: (canvas.columns - side) / 2,
      terminal?.colorDepth ?? .none)
    canvas.center("\(name)  \(size(bytes.count))", row: 0, ink: .gold)
    canvas.put(guide.texts["gallerykeys"], row: canvas.rows - 1, column: 1, ink: .gray)
  }

  /// A bar for what is coming, else what happened last.
  private func drawDownloads(_ canvas: inout Canvas) {
    let row = canvas.rows - 2
    guard let download = guide.downloads.values.min(by: { $0.pack.id < $1.pack.id }) else {
      return canvas.put(news, row: row, column: 1, ink: .gray)
    }
    let fraction = download.progress?.fractionCompleted ?? 0
    let label = "\(download.pack) \(Int(fraction * 100))% "
    let width = max(canvas.columns - label.count - 3, 0), filled = Int(fraction * Double(width))
    canvas.put(label, row: row, column: 1, ink: .white)
    canvas.put(String(repeating: "█", count: filled), row: row, column: 1 + label.count, ink: .green)
    canvas.put(String(repeating: "░", count: width - filled), row: row, column: 1 + label.count + filled, ink: .gray)
  }
}
