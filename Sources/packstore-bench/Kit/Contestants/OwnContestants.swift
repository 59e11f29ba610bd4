/// The contestants of `packstore-bench` itself.
enum OwnContestants {
  static let all: [any Contestant] = [
    PackStoreContestant.swift, PackStoreContestant.c, PackStoreContestant.fast, PackStoreContestant.shared,
    PackStoreContestant.sequential, PlainFiles(),
  ]
}
