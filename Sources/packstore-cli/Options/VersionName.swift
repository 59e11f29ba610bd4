import ArgumentParser
import PackAuthoring
import PackStore

/// A version of a pack as all commands accept it: `Tutorial@3`, `Tutorial@1.4.2` by its label, `Tutorial@previous` or
/// `Tutorial@current`. `Tutorial` alone is the command's default version. If the pack is known, `@3` is enough.
struct VersionName: Sendable {
  enum Selector: Equatable, Sendable {
    case current
    /// The version before the current version.
    case previous
    case number(UInt64)
    case label(VersionLabel)
  }

  let pack: PackID
  /// `nil` if the text contains only the pack.
  var which: Selector?

  init(pack: PackID, which: Selector? = nil) {
    self.pack = pack
    self.which = which
  }

  /// - Parameter knownPack: the pack to use if the text contains only a version.
  init(_ text: String, of knownPack: PackID? = nil) throws {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    if let knownPack, parts[0].isEmpty, parts.count == 2 {
      pack = knownPack
    } else {
      pack = try parsePackName(parts[0])
    }
    guard parts.count == 2 else { return }
    switch parts[1] {
    case "current": which = .current
    case "previous": which = .previous
    default:
      guard let named = Self.numbered(parts[1]) ?? (try? VersionLabel(parts[1])).map(Selector.label) else {
        throw ValidationError(
          "'\(escaped(text))' is not a version; write \(pack)@3, \(pack)@LABEL, \(pack)@previous or \(pack)@current")
      }
      which = named
    }
  }

  /// Parses a version number: digits only, without a sign.
  private static func numbered(_ text: Substring) -> Selector? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt64(text),
      1...PackVersion.lastNumber ~= number
    else { return nil }
    return .number(number)
  }

  /// Returns the version with this name among the pack's kept versions.
  ///
  /// - Parameters:
  ///   - standard: the version for a name without a version.
  ///   - place: the source of the versions in error messages, such as "the site"; `nil` for a store.
  func find(in snapshot: Snapshot, standard: Selector = .current, of place: String? = nil) throws -> PackVersion {
    let versions = snapshot.versions(of: pack)
    guard let current = versions.first else {
      throw PackStoreError.noPack(pack, among: (snapshot.packs + snapshot.removedPacks).map(\.id), of: place)
    }
    switch which ?? standard {
    case .current: return current
    case .previous:
      guard versions.count > 1 else { throw PackStoreError.noneBefore(current, among: versions) }
      return versions[1]
    case .number(let number):
      guard let version = versions.first(where: { $0.number == number }) else {
        throw PackStoreError.notKept(number, of: pack, among: versions)
      }
      return version
    case .label(let label): return try find(label, in: snapshot)
    }
  }

  private func find(_ label: VersionLabel, in snapshot: Snapshot) throws -> PackVersion {
    let labeled = try snapshot.versions(of: pack, labeled: label)
    guard let version = labeled.first else { throw try Failure.noLabel(label, of: pack, in: snapshot) }
    guard labeled.count == 1 else {
      let numbers = labeled.map { "\($0)" }
      var failure = Failure(
        .conflict, "version '\(pack)@\(label)': the label of \(numbers.joined(separator: " and "))",
        remedy: "name the version by its number", pack: pack)
      failure.canRetry = false
      throw failure
    }
    return version
  }

  /// Returns the version to publish. The current version is resolved only when the publication reads it.
  func publishedPack(in snapshot: Snapshot) throws -> Site.PublishedPack {
    // A removed pack also has versions while its history is kept.
    guard snapshot.packs.contains(where: { $0.id == pack }) else {
      throw PackStoreError.noPack(pack, among: snapshot.packs.map(\.id))
    }
    let version = try find(in: snapshot)
    return Site.PublishedPack(pack, version: which == nil || which == .current ? nil : version.number)
  }
}

extension Failure {
  /// Returns the error for a label that no kept version has. It lists the existing labels.
  fileprivate static func noLabel(_ label: VersionLabel, of pack: PackID, in snapshot: Snapshot) throws -> Failure {
    let labels = try snapshot.versions(of: pack).compactMap { try snapshot.attributes(of: $0).label?.text }
    let known = labels.isEmpty ? "no version has a label" : "labels: \(labels.joined(separator: ", "))"
    return Failure(
      .notFound, "pack '\(pack)': no kept version has the label '\(label)' (\(known))",
      remedy: "'packstore log' lists versions and labels", pack: pack)
  }
}

/// Parses the label for a new version.
@Sendable func parseLabel(_ text: String) throws -> VersionLabel { try parse { try VersionLabel(text) } }

/// Parses the note for a new version.
@Sendable func parseNote(_ text: String) throws -> VersionNote { try parse { try VersionNote(text) } }

/// Parses `PACK` or `PACK@VERSION`.
@Sendable func parseVersionName(_ text: String) throws -> VersionName { try VersionName(text) }
