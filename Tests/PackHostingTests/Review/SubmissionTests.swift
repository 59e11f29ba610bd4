#if Hosting
  import GRDB
  import PackStore
  import Testing

  @testable import PackHosting

  struct SubmissionTests {
    private func host(store approvals: Int = 0, external: Int = 0) async throws -> TestHost {
      let host = try await TestHost()
      try await host.delegate()
      try await host.setApprovals(store: approvals, external: external)
      return host
    }

    private func person(_ id: String, _ host: TestHost) -> Principal {
      host.principal(id, kind: .person, role: .appManager)
    }

    @Test func itemOfAnOpenSubmissionIsBound() async throws {
      let host = try await host(store: 1)
      let version = try await host.published("one")
      let first = try await host.submit([version])
      #expect(first.state == .waitingForReview)
      let second = try await host.submissions.create(app: host.app, platform: .iOS, by: host.developer)
      do {
        _ = try await host.submissions.add(.version(version.id), to: second.id, by: host.developer)
        Issue.record("added twice")
      } catch let error as APIError {
        #expect(error.code == "STATE_ERROR.ITEM_PART_OF_ANOTHER_SUBMISSION")
        #expect(error.detail.contains(first.id.rawValue))
      }
      let cancelled = try await host.submissions.cancel(first.id, by: host.developer)
      #expect(cancelled.state == .canceling)
      #expect(
        await apiError { try await host.submissions.add(.version(version.id), to: second.id, by: host.developer) }
          != "no error")
      await host.work()
      #expect(try await host.submission(first.id).state == .complete)
      _ = try await host.submissions.add(.version(version.id), to: second.id, by: host.developer)
      #expect(try await host.state(version, .store) == .readyForReview)
    }

    @Test func draftsAndCompleteSubmissionsCannotBeCancelled() async throws {
      let host = try await host()
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      let state = "409 STATE_ERROR.ENTITY_STATE_INVALID"
      #expect(await apiError { try await host.submissions.cancel(draft.id, by: host.developer) } == state)
      #expect(
        await apiError { try await host.submissions.submit(draft.id, by: host.developer) }
          == "409 ENTITY_ERROR.RELATIONSHIP.REQUIRED")
      let version = try await host.published("one"), sent = try await host.submit([version])
      await host.work()
      #expect(try await host.submission(sent.id).state == .complete)
      #expect(await apiError { try await host.submissions.cancel(sent.id, by: host.developer) } == state)
      let next = try await host.published("two")
      #expect(
        await apiError { try await host.submissions.add(.version(next.id), to: sent.id, by: host.developer) } == state)
      #expect(
        await apiError { try await host.submissions.cancel(sent.id, by: host.stranger) } == "404 NOT_FOUND")
    }

    @Test func submittedItemsAreRemovedByPatchOnly() async throws {
      let host = try await host(store: 1)
      let version = try await host.published("one"), submission = try await host.submit([version])
      let item = try #require(
        try await host.context.database.read { try submission.activeItems(in: $0).first })
      #expect(
        await apiError { try await host.submissions.remove(item.id, by: host.developer) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      let removed = try await host.submissions.update(item.id, removed: true, by: host.developer)
      #expect(removed.state == .removed)
      #expect(try await host.state(version, .store) == .prepareForSubmission)
    }

    @Test func incompleteAndForeignVersionsAreRefused() async throws {
      let host = try await host()
      let version = try await host.version()
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      #expect(
        await apiError { try await host.submissions.add(.version(version.id), to: draft.id, by: host.developer) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      let unknown = await apiError {
        try await host.submissions.add(.version(.init(rawValue: "x")), to: draft.id, by: host.developer)
      }
      let foreign = await apiError { try await host.submissions.submitBeta(version.id, by: host.stranger) }
      #expect(unknown == "409 ENTITY_ERROR.RELATIONSHIP.INVALID" && foreign == unknown)
    }

    @Test func onlyPersonsApprove() async throws {
      let host = try await host(store: 1)
      let version = try await host.published("one"), submission = try await host.submit([version])
      for kind in [Principal.Kind.teamKey, .ciToken] {
        let key = host.principal("key", kind: kind, role: .admin)
        #expect(await apiError { try await host.reviews.approve(submission.id, by: key) } == "403 FORBIDDEN_ERROR")
        #expect(await apiError { try await host.reviews.reject(submission.id, by: key) } == "403 FORBIDDEN_ERROR")
      }
      let developer = host.principal("dev", kind: .person, role: .developer)
      #expect(await apiError { try await host.reviews.approve(submission.id, by: developer) } == "403 FORBIDDEN_ERROR")
      let approved = try await host.reviews.approve(submission.id, by: person("a", host))
      #expect(approved.state == .completing)
      await host.work()
      #expect(try await host.state(version, .store) == .readyForDistribution)
    }

    @Test func twoReviewersAreDifferentPeople() async throws {
      let host = try await host(store: 2)
      let version = try await host.published("one")
      let submission = try await host.submit([version], by: person("submitter", host))
      #expect(
        await apiError { try await host.reviews.approve(submission.id, by: person("submitter", host)) }
          == "403 FORBIDDEN_ERROR")
      let uploader = host.principal(host.developer.id, kind: .person, role: .appManager)
      #expect(await apiError { try await host.reviews.approve(submission.id, by: uploader) } == "403 FORBIDDEN_ERROR")
      #expect(try await host.reviews.approve(submission.id, by: person("a", host)).state == .inReview)
      #expect(
        await apiError { try await host.reviews.approve(submission.id, by: person("a", host)) } == "403 FORBIDDEN_ERROR"
      )
      await host.work()
      #expect(try await host.state(version, .store) == .inReview)
      #expect(try await host.offered(.store) == [])
      #expect(try await host.reviews.approve(submission.id, by: person("b", host)).state == .completing)
    }

    @Test func changesVoidApprovals() async throws {
      let host = try await host(store: 2)
      let one = try await host.published("one"), town = try await host.published("t", pack: "Town")
      let submission = try await host.submit([one, town])
      _ = try await host.reviews.approve(submission.id, by: person("a", host))
      let items = try await host.context.database.read { try submission.activeItems(in: $0) }
      let item = try #require(items.first { $0.versionID == town.id })
      _ = try await host.submissions.update(item.id, removed: true, by: host.developer)
      #expect(try await host.reviews.approve(submission.id, by: person("b", host)).state == .inReview)
      #expect(try await host.reviews.approve(submission.id, by: person("a", host)).state == .completing)
      await host.work()
      #expect(try await host.offered(.store, pack: "Town") == [])
      #expect(try await host.offered(.store) == [1])
    }

    @Test func rejectedItemsAreResolvedAndSubmittedAgain() async throws {
      let host = try await host(store: 1)
      let one = try await host.published("one"), town = try await host.published("t", pack: "Town")
      let submission = try await host.submit([one, town])
      let items = try await host.context.database.read { try submission.activeItems(in: $0) }
      let item = try #require(items.first { $0.versionID == one.id })
      let rejected = try await host.reviews.reject(submission.id, items: [item.id], by: person("a", host))
      #expect(rejected.state == .unresolvedIssues)
      #expect(try await host.state(one, .store) == .rejected)
      #expect(try await host.events(.storeRelease).count == 1)
      #expect(await apiError { try await host.submissions.submit(submission.id, by: host.developer) } != "no error")
      _ = try await host.submissions.update(item.id, resolved: true, by: host.developer)
      #expect(try await host.submissions.submit(submission.id, by: host.developer).state == .waitingForReview)
      #expect(try await host.reviews.approve(submission.id, by: person("a", host)).state == .completing)
      await host.work()
      #expect(try await host.state(one, .store) == .readyForDistribution)
      #expect(try await host.state(town, .store) == .readyForDistribution)
    }

    @Test func oneVersionOfAPackIsInBetaReview() async throws {
      let host = try await host(external: 1)
      let one = try await host.published("one"), two = try await host.published("two")
      let submission = try await host.submissions.submitBeta(one.id, by: host.developer)
      #expect(
        await apiError { try await host.submissions.submitBeta(two.id, by: host.developer) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      _ = try await host.reviews.reject(submission.id, by: person("a", host))
      #expect(try await host.state(one, .externalBeta) == .rejected)
      let next = try await host.submissions.submitBeta(two.id, by: host.developer)
      _ = try await host.reviews.approve(next.id, by: person("a", host))
      await host.work()
      #expect(try await host.offered(.externalBeta) == [2])
      #expect(try await host.events(.externalRelease).count == 2)
      #expect(try await host.submission(next.id).state == .complete)
    }

    @Test func tenPacksFitIntoASubmission() async throws {
      let host = try await host()
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      var versions: [VersionRecord] = []
      for number in 0...10 {
        versions.append(try await host.published("x", pack: try PackID(validating: "P\(number)")))
      }
      for version in versions.prefix(10) {
        _ = try await host.submissions.add(.version(version.id), to: draft.id, by: host.developer)
      }
      let last = versions[10]
      #expect(
        await apiError { try await host.submissions.add(.version(last.id), to: draft.id, by: host.developer) }
          == "409 STATE_ERROR.LIMIT_REACHED")
    }

    @Test func packsWaitForTheirAppVersion() async throws {
      let host = try await host()
      let pack = try await host.published("one"), commands = AppVersionCommands(host.context)
      let app = try await commands.create(
        "1.0", platform: .iOS, releaseType: .manual, app: host.app, by: host.developer)
      let draft = try await host.submissions.create(app: host.app, platform: .iOS, by: host.developer)
      _ = try await host.submissions.add(.version(pack.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.add(.appVersion(app.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.submit(draft.id, by: host.developer)
      await host.work()
      #expect(try await host.state(pack, .store) == .accepted)
      #expect(try await host.offered(.store) == [])
      #expect(try await host.submission(draft.id).state == .complete)
      let error = await apiError {
        try await commands.update(
          app.id, releaseType: .scheduled, earliestReleaseDate: host.time.now, by: host.developer)
      }
      #expect(error == "403 FORBIDDEN_ERROR", "a role that cannot release")
      let released = try await commands.release(app.id, by: host.admin)
      #expect(released.state == .readyForDistribution)
      await host.work()
      #expect(try await host.offered(.store) == [1])
      #expect(try await host.state(pack, .store) == .readyForDistribution)
    }

    @Test func scheduledAppVersionIsReleasedAtItsDate() async throws {
      let host = try await host()
      let pack = try await host.published("one"), commands = AppVersionCommands(host.context)
      let date = host.time.now.adding(seconds: 3600)
      let app = try await commands.create(
        "1.0", platform: .iOS, releaseType: .scheduled, earliestReleaseDate: date, app: host.app, by: host.developer)
      let draft = try await host.submissions.create(app: host.app, platform: .iOS, by: host.developer)
      _ = try await host.submissions.add(.version(pack.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.add(.appVersion(app.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.submit(draft.id, by: host.developer)
      await host.work()
      #expect(try await host.offered(.store) == [])
      host.time.advance(seconds: 3600)
      await host.work()
      await host.work()
      #expect(try await host.offered(.store) == [1])
    }
  }
#endif
