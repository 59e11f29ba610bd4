import BackgroundAssets

/// What the app says, in the language of the pack that has it: `Texts/texts.json`, an object of texts.
struct Texts {
  private var translated: [String: String] = [:]

  /// What is said where no pack has a word for it.
  private static let own: [String: String] = [
    "title": "The Tour", "caves": "Caves", "portraits": "Portraits of files", "packs": "Packs",
    "begin": "Setting up", "steps": "steps", "crystals": "crystals left", "solved": "Out of the cave",
    "par": "the shortest way",
    "here": "here", "missing": "not here", "purged": "lost bytes", "coming": "coming", "paused": "paused",
    "newer": "newer version", "small": "too small",
    "keys": "arrows, enter; u update  l language  f free space  q quit",
    "cavekeys": "arrows move  a walks by itself  r again  esc back",
    "gallerykeys": "left, right; esc back", "packkeys": "enter: fetch, pause, go on; r: remove",
  ]

  init(_ data: Data? = nil) {
    guard let data, data.count <= 1 << 16 else { return }
    translated = (try? JSONDecoder().decode([String: String].self, from: data)) ?? [:]
  }

  subscript(_ name: String) -> String { translated[name] ?? Self.own[name] ?? name }
}

/// A number of bytes as people read it.
func size(_ byteCount: some BinaryInteger) -> String {
  switch Double(byteCount) {
  case ..<1e3: "\(byteCount) B"
  case ..<1e6: String(format: "%.1f kB", Double(byteCount) / 1e3)
  case let count: String(format: "%.1f MB", count / 1e6)
  }
}
