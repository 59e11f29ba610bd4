import ArgumentParser
import PackAuthoring
import PackStore

/// The compression level of a delta.
struct DeltaLevel: ExpressibleByArgument {
  let level: Int32

  init?(argument: String) {
    switch argument {
    case "fast": level = Store.DeltaOptions.fastLevel
    case "default": level = Store.DeltaOptions.standardLevel
    case "best", "max": level = Store.DeltaOptions.bestLevel
    default:
      guard let level = Int32(argument), (1...22).contains(level) else { return nil }
      self.level = level
    }
  }

  static var allValueStrings: [String] { ["fast", "default", "best"] }
}
