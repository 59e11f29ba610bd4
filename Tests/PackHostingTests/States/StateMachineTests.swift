#if Hosting
  import Testing

  @testable import PackHosting

  /// Visits every pair of state and event of each machine.
  struct StateMachineTests {
    @Test func pairsOutsideOfTheTableAreRefused() {
      check(VersionStates.self)
      check(UploadStates.self)
      check(InternalReleaseStates.self)
      check(ExternalReleaseStates.self)
      check(StoreReleaseStates.self)
      check(SubmissionStates.self)
      check(SubmissionItemStates.self)
      check(AppVersionStates.self)
      check(PhasedReleaseStates.self)
    }

    private func check<Machine: StateMachine>(_: Machine.Type) {
      for state in Machine.State.allCases {
        for event in Machine.Event.allCases {
          let rows = Machine.transitions.filter { $0.from == state && $0.event == event }
          #expect(rows.count <= 1, "\(Machine.self): \(state) \(event)")
          #expect(Machine.next(state, event) == rows.first?.to)
          #expect(rows.first.map { $0.to != state } ?? true)
        }
      }
      #expect(reachable(Machine.self) == Set(Machine.transitions.flatMap { [$0.from, $0.to] }))
    }

    private func reachable<Machine: StateMachine>(_: Machine.Type) -> Set<Machine.State> {
      var seen: Set = [Machine.initial], open = [Machine.initial]
      while let state = open.popLast() {
        for event in Machine.Event.allCases {
          if let next = Machine.next(state, event), seen.insert(next).inserted { open.append(next) }
        }
      }
      return seen
    }

    @Test func failedVersionsAreFinal() {
      #expect(VersionStates.Event.allCases.allSatisfy { VersionStates.next(.failed, $0) == nil })
      #expect(UploadStates.Event.allCases.allSatisfy { UploadStates.next(.failed, $0) == nil })
    }

    @Test func releasesOfEachContextUseApplesStates() {
      #expect(states(InternalReleaseStates.self) == [.readyForTesting, .superseded])
      #expect(
        states(ExternalReleaseStates.self) == [
          .readyForBetaSubmission, .waitingForReview, .inReview, .rejected, .processingForTesting, .readyForTesting,
          .superseded,
        ])
      #expect(
        states(StoreReleaseStates.self) == [
          .prepareForSubmission, .readyForReview, .waitingForReview, .inReview, .accepted, .rejected,
          .processingForDistribution, .readyForDistribution, .superseded,
        ])
    }

    private func states<Machine: StateMachine>(_: Machine.Type) -> Set<Machine.State> {
      Set(Machine.transitions.flatMap { [$0.from, $0.to] })
    }

    @Test func approvalIsTheOnlyWayToBecomeLive() {
      for context in [ReleaseContext.externalBeta, .store] {
        for state in ReleaseState.allCases {
          for event in ReleaseEvent.allCases where context.next(state, event)?.isLive == true {
            #expect([.processingForTesting, .processingForDistribution, .superseded].contains(state))
          }
        }
      }
    }
  }
#endif
