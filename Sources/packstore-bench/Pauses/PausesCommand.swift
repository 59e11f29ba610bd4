import ArgumentParser
import Foundation
import PackStore
import Synchronization

struct PausesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pauses",
    abstract: "Measure single reads until standard input ends.",
    discussion: """
      Shows the effect of another process that commits, collects or writes at the same time. Each read opens the \
      newest snapshot and copies 64 KiB from a random place. Prints 'reading' when it begins, and at the end an \
      object with 'reads', 'median_ns', 'p999_ns' and 'longest_ns'.

        packstore-bench pauses Packs < <(packstore gc Packs --json)
      """
  )

  @Argument(help: "The store's folder.", completion: .directory)
  var store: String

  func run() throws {
    let reader = try PauseReader(Store(at: FilePath(store), options: .readOnly))
    let isOver = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
    _ = try reader.read(count: 1) { false }  // The first read opens files, and reports errors of the store.
    print("reading")
    fflush(nil)
    Thread.detachNewThread {
      while readLine() != nil {}
      isOver.store(true, ordering: .relaxed)
      ended.signal()
    }
    let pauses = try reader.read(count: PauseReader.mostReads) { isOver.load(ordering: .relaxed) }
    ended.wait()
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    print(String(decoding: try encoder.encode(pauses), as: UTF8.self))
  }
}
