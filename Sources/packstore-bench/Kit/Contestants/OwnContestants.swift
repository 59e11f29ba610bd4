/// Who takes part in what `packstore-bench` measures.
enum OwnContestants {
  static let all: [any Contestant] = [
    PackStoreContestant.swift, PackStoreContestant.c, PackStoreContestant.fast, PackStoreContestant.shared,
    PackStoreContestant.sequential, PlainFiles(),
  ]
}
