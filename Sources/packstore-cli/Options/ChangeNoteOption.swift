import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

/// Option for the note on a change of a site, in the private part of its history.
struct ChangeNoteOption: ParsableArguments {
  @Option(
    name: .customLong("note"),
    help: .init(
      "Note on the change, for 'packstore history'; devices cannot read it.", valueName: "text"))
  var text: String?

  /// The note, with the user, the job and the commit of the build service that runs this process.
  var changeNote: ChangeNote { ChangeNote(environment: ProcessInfo.processInfo.environment, note: text) }
}
