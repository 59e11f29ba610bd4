/// Apple's tools whose syntax this program has if it is started by their name, such as through a link.
///
/// Their options are options of this program's commands; only the tools' default commands differ.
enum AppleTool: String, CaseIterable {
  /// The packaging tool.
  case package = "ba-package"
  /// The mock server.
  case serve = "ba-serve"

  /// `nil` if a program was started by another name.
  init?(program path: String) {
    self.init(rawValue: String(path.split(separator: "/").last ?? ""))
  }

  /// Translates the tool's arguments to arguments of `packstore`.
  func arguments(_ words: [String]) -> [String] {
    guard let first = words.first, !first.isEmpty, first != "help" else { return words }
    switch self {
    case .package:
      return commands.contains(first) ? words : [commands[0]] + words
    case .serve where first == "url-override":
      // Apple's server offers archives of Apple's format alone, which have no signatures.
      let sets = words.contains { $0.contains("://") } && !words.contains("--trust")
      return words + (sets && !words.contains("--allow-unsigned") ? ["--allow-unsigned"] : [])
    case .serve:
      return commands.contains(first) ? words : [commands[0]] + words
    }
  }

  /// The commands of the tool; the first one is the default.
  var commands: [String] {
    switch self {
    case .package: ["package", "template", "evaluate", "convert", "download-manifest"]
    case .serve: ["serve", "url-override"]
    }
  }

  /// The answer to arguments that are not for a command of this program; `nil` for others.
  ///
  /// - Throws: ``Failure`` for a command that this program lacks.
  func answer(to words: [String], version: String) throws -> String? {
    switch words.first {
    case nil, "--help", "-h": return overview
    case "help" where words.count == 1: return overview
    case "--version" where words.count == 1: return version
    case "license" where self == .package: return "\(rawValue) is PackStore's, which has no license to agree to."
    case "foundation-models" where self == .package:
      throw Failure(
        .usage, "'foundation-models': not supported, because adapters are for models of Apple's systems",
        remedy: "package the adapter's files by a manifest")
    default: return nil
    }
  }

  /// The help of the tool itself.
  private var overview: String {
    let usage =
      switch self {
      case .package:
        """
          ba-package template [-o Manifest.json]
          ba-package Manifest.json -o Tutorial.aar
          ba-package evaluate Manifest.json
          ba-package convert depot_build.vdf -o Manifest.json --asset-pack-id Base
          ba-package download-manifest create Tutorial.aar --download-base-url URL -o manifest.json
          ba-package download-manifest update manifest.json --asset-pack-paths Tutorial.aar
        """
      case .serve:
        """
          ba-serve Tutorial.aar --host localhost [--port 8443]
          ba-serve Tutorial.aar --identity-path cert.pem --identity-path key.pem
          ba-serve url-override https://localhost:8443
          ba-serve url-override --clear
        """
      }
    return """
      Usage:
      \(usage)

      This program is packstore, with the syntax of Apple's \(rawValue).
      'packstore help COMMAND' describes the commands: \(commands.joined(separator: ", ")).
      """
  }
}

/// Apple's tool by whose name this process was started.
let appleTool = AppleTool(program: CommandLine.arguments.first ?? "")

/// The arguments of this process, as arguments of `packstore`.
let programArguments: [String] = {
  let words = Array(CommandLine.arguments.dropFirst())
  return appleTool?.arguments(words) ?? words
}()
