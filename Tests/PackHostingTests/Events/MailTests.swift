#if Hosting
  import Foundation
  import GRDB
  import PackStore
  import Synchronization
  import Testing

  @testable import PackHosting

  /// Mails from the outbox.
  @Suite struct MailTests {
    /// Accepts mails, or fails.
    private final class Transport: MailTransport {
      let messages = Mutex<[MailMessage]>([])
      let fault = Mutex<(any Error)?>(nil)

      func send(_ message: MailMessage) async throws {
        if let fault = fault.withLock({ $0 }) { throw fault }
        messages.withLock { $0.append(message) }
      }
    }

    private func host(_ recipients: String...) async throws -> TestHost {
      let host = try await TestHost()
      try await host.delegate()
      for recipient in recipients { try await MailCommands(host.context).add(recipient, to: host.app, by: host.admin) }
      return host
    }

    private func address(_ text: String) throws -> MailAddress { try #require(MailAddress(rawValue: text)) }

    private func queue(_ host: TestHost, _ transport: Transport) throws -> MailQueue {
      MailQueue(host.context, transport: transport, sender: try address("packs@example.com"))
    }

    private func mails(_ host: TestHost) async throws -> [MailRecord] {
      try await host.context.database.read { try MailRecord.order(Column("rowid")).fetchAll($0) }
    }

    // MARK: - Events

    @Test func readyFailedAndApprovedAreMailed() async throws {
      let host = try await host("ada@example.com", "bob@example.com")
      let version = try await host.published("one")
      _ = try await host.submit([version])
      await host.work()
      let failed = try await host.version(of: "City")
      _ = try await host.upload([1, 2, 3], to: failed)
      await host.work()
      let mails = try await mails(host)
      #expect(mails.map(\.kind) == [.ready, .ready, .approved, .approved, .failed, .failed])
      #expect(mails.prefix(2).map(\.recipient.rawValue) == ["ada@example.com", "bob@example.com"])
      #expect(mails[0].subject == "City: City, version 1 is ready for internal testers")
      #expect(mails[2].text.contains("- City, version 1"))
      #expect(mails[4].subject == "City: City, version 2 failed" && mails[4].text.contains("- ARCHIVE_"))
      let transport = Transport()
      #expect(try await queue(host, transport).run() == 6)
      #expect(transport.messages.withLock { $0.map(\.id) }.sorted() == mails.map(\.id.rawValue).sorted())
      #expect(try await queue(host, transport).run() == 0, "each is sent once")
    }

    @Test func submissionsForTestersAreMailed() async throws {
      let host = try await host("ada@example.com")
      let version = try await host.published("one")
      _ = try await host.submissions.submitBeta(version.id, by: host.developer)
      await host.work()
      #expect(try await mails(host).last?.subject == "City: a submission for external testers is approved")
    }

    @Test func quotaIsMailedOnceADay() async throws {
      let host = try await host("ada@example.com"), app = host.app
      try await host.context.database.write {
        try $0.execute(sql: "UPDATE app SET byteLimit = 1000 WHERE id = ?", arguments: [app])
      }
      func reserve(_ pack: String, _ byteCount: Int64) async throws -> UploadFileRecord {
        try await host.uploads.reserve(
          .asset, fileName: "x", byteCount: byteCount, version: try await host.version(of: pack).id, by: host.developer)
      }
      _ = try await reserve("A", 799)
      #expect(try await mails(host).isEmpty)
      _ = try await reserve("B", 1)
      #expect(try await mails(host).map(\.subject) == ["City: 80 % of the space is used"])
      _ = try await reserve("C", 10)
      #expect(try await mails(host).count == 1, "not above the threshold again")
      host.time.advance(seconds: Assumptions.reservationLifetime + 1)
      try await host.uploads.expire()
      _ = try await reserve("D", 900)
      #expect(try await mails(host).count == 2)
      try await host.context.database.write { try $0.execute(sql: "UPDATE uploadFile SET state = 'FAILED'") }
      _ = try await reserve("E", 900)
      #expect(try await mails(host).count == 2, "once a day")
    }

    @Test func appsWithoutRecipientsHaveNoMails() async throws {
      let host = try await host()
      _ = try await host.published("one")
      #expect(try await mails(host).isEmpty)
      try await MailCommands(host.context).add("ada@example.com", to: host.app, by: host.admin)
      let removed = try await MailCommands(host.context).remove("ada@example.com", from: host.app, by: host.admin)
      #expect(removed)
      _ = try await host.published("two")
      #expect(try await mails(host).isEmpty)
    }

    @Test func mailsOfADayAreBounded() async throws {
      let host = try await host("ada@example.com", "bob@example.com")
      let version = try await host.published("one"), now = host.time.now
      let model = try #require(try await mails(host).first)
      try await host.context.database.write { database in
        for _ in 0..<(Assumptions.mailsPerDay - 3) {
          try MailRecord(
            id: .init(host.random), appID: model.appID, kind: .ready, recipient: model.recipient, subject: "", text: "",
            state: .succeeded, attempts: 1, createdDate: now, dueDate: nil, errorMessage: nil
          ).insert(database)
        }
        try Outbox(host.context).mailReady(version.id, in: database)
        try Outbox(host.context).mailReady(version.id, in: database)
      }
      #expect(try await mails(host).count == Assumptions.mailsPerDay)
    }

    // MARK: - Recipients

    @Test func recipientsAreChecked() async throws {
      let host = try await host(), commands = MailCommands(host.context)
      for text in [
        "ada", "ada@", "@example.com", "ada@example.com\r\nBcc: eve@example.com", "ada@example.com,eve@example.com",
      ] {
        #expect(
          await apiError { try await commands.add(text, to: host.app, by: host.admin) }
            == "409 ENTITY_ERROR.ATTRIBUTE.INVALID",
          "\(text)")
      }
      for number in 0..<Assumptions.mailRecipientsPerApp {
        try await commands.add("a\(number)@example.com", to: host.app, by: host.admin)
      }
      try await commands.add("a0@example.com", to: host.app, by: host.admin)
      #expect(
        await apiError { try await commands.add("b@example.com", to: host.app, by: host.admin) }
          == "409 STATE_ERROR.LIMIT_REACHED")
      #expect(
        await apiError { try await commands.add("b@example.com", to: host.app, by: host.developer) }
          == "403 FORBIDDEN_ERROR")
      #expect(
        await apiError { try await commands.recipients(of: host.otherApp, by: host.admin) } == "404 NOT_FOUND")
    }

    @Test(arguments: [
      "a@b", "ada.lovelace+packs@mail.example.com", "o'hara@x-y.example", String(repeating: "a", count: 64) + "@b.c",
    ])
    func plainAddressesAreValid(_ text: String) {
      let address = MailAddress(rawValue: text)
      #expect(address?.rawValue == text && address?.domain == text.split(separator: "@").last)
    }

    /// None of these becomes a part of a command or a header.
    @Test(arguments: [
      "", "@", "a", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a@b\r\nRCPT TO:<eve@example.com>", "a\n@b", "a@b\0",
      "<a@b>", "a@b>",
      "\"a b\"@c", "a..b@c", ".a@b", "a.@b", "a@.b", "a@b..c", "a@b.", "a@-b", "a@b-", "ä@b", "a@bücher.example",
      "a@[127.0.0.1]",
      "a,b@c", "a;b@c", "a@b_c", String(repeating: "a", count: 65) + "@b", "a@" + String(repeating: "b", count: 64),
      "a@" + Array(repeating: String(repeating: "b", count: 60), count: 5).joined(separator: "."),
    ]) func otherAddressesAreRefused(_ text: String) { #expect(MailAddress(rawValue: text) == nil) }

    // MARK: - Messages

    private func message(subject: String, text: String = "text") throws -> MailMessage {
      MailMessage(
        sender: try address("packs@example.com"), recipient: try address("ada@example.com"), subject: subject,
        text: text,
        date: Timestamp(rawValue: 1_795_512_600_000), id: "id")
    }

    private func lines(_ message: MailMessage) -> [String] {
      String(decoding: message.bytes, as: UTF8.self).components(separatedBy: "\r\n")
    }

    private func decoded(_ words: Substring) -> String {
      let data = words.split(separator: " ").map { $0.dropFirst(10).dropLast(2) }.reduce(into: Data()) {
        $0 += Data(base64Encoded: String($1)) ?? Data()
      }
      return String(decoding: data, as: UTF8.self)
    }

    /// Names of apps and packs come from users: no text adds a header line or ends the message.
    @Test(arguments: [
      "plain", "x\r\nBcc: eve@example.com", "x\nX: y", "x\r.\r\n", "\u{85}\u{2028}", "=?utf-8?B?QmNj?=",
      String(repeating: "é🗺", count: 300), "",
    ]) func subjectsAreOneHeader(_ subject: String) throws {
      let lines = lines(try message(subject: subject, text: "\r\n.\r\nMAIL FROM:<eve@example.com>\r\n"))
      let blank = try #require(lines.firstIndex(of: ""))
      let headers = lines[..<blank]
      #expect(
        headers.filter { !$0.hasPrefix(" ") }.map { String($0.prefix { $0 != ":" }) } == [
          "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
          "Content-Transfer-Encoding",
        ])
      for line in lines {
        #expect(line.utf8.count <= 90 && line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && line != ".")
      }
      let begin = try #require(headers.firstIndex { $0.hasPrefix("Subject: ") })
      let words = headers[begin...].prefix { $0 == headers[begin] || $0.hasPrefix(" ") }.joined()
      let text = decoded(words.dropFirst("Subject: ".count))
      #expect(
        !text.contains { $0.isNewline && $0 != "\u{2028}" } && text.utf8.count <= MailMessage.subjectByteCountLimit)
      #expect(subject.hasPrefix(text) || text.contains(" "))
    }

    @Test func messageHasItsForm() throws {
      let lines = lines(try message(subject: "City: ready", text: "é\nzwei\n"))
      #expect(
        lines == [
          "From: <packs@example.com>", "To: <ada@example.com>", "Subject: =?utf-8?B?Q2l0eTogcmVhZHk=?=",
          "Date: Tue, 24 Nov 2026 09:30:00 +0000", "Message-ID: <id@example.com>", "Auto-Submitted: auto-generated",
          "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
          Data("é\r\nzwei\r\n".utf8).base64EncodedString(), "",
        ])
    }

    @Test func base64HasPadding() {
      for count in 0..<20 {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 251 &* $0) }
        #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
      }
    }

    // MARK: - Retries

    @Test func faultsAreRetriedForADay() async throws {
      let host = try await host("ada@example.com"), transport = Transport()
      _ = try await host.published("one")
      transport.fault.withLock { $0 = MailFault(description: "451 later") }
      var attempts = 0
      for _ in 0..<100 {
        attempts += try await queue(host, transport).run()
        host.time.advance(seconds: 900)
      }
      let mail = try #require(try await mails(host).first)
      #expect(mail.state == .failed && mail.dueDate == nil && (5...9).contains(attempts), "\(attempts)")
      transport.fault.withLock { $0 = nil }
      #expect(try await queue(host, transport).run() == 0)
    }

    @Test func transientFaultsEnd() async throws {
      let host = try await host("ada@example.com"), transport = Transport()
      _ = try await host.published("one")
      transport.fault.withLock { $0 = MailFault(description: "451 later") }
      #expect(try await queue(host, transport).run() == 1)
      #expect(try await queue(host, transport).run() == 0, "a retry waits")
      transport.fault.withLock { $0 = nil }
      host.time.advance(seconds: Assumptions.retryDelays[0])
      #expect(try await queue(host, transport).run() == 1)
      let mail = try #require(try await mails(host).first)
      #expect(mail.state == .succeeded && mail.attempts == 2 && mail.errorMessage == nil)
    }

    @Test func refusedMailsAreNotRepeated() async throws {
      let host = try await host("ada@example.com"), transport = Transport()
      _ = try await host.published("one")
      transport.fault.withLock { $0 = MailFault(description: "550 unknown", isPermanent: true) }
      _ = try await queue(host, transport).run()
      #expect(try await mails(host).first?.state == .failed)
    }

    /// A server that is down is not asked for each mail.
    @Test func unreachableServerEndsTheRun() async throws {
      let host = try await host("ada@example.com", "bob@example.com"), transport = Transport()
      _ = try await host.published("one")
      transport.fault.withLock { $0 = CocoaError(.fileNoSuchFile) }
      #expect(try await queue(host, transport).run() == 1)
    }

    @Test func doctorReportsFailedMails() async throws {
      let host = try await host("ada@example.com"), app = host.app
      let recipient = try address("ada@example.com")
      try await host.context.database.write { database in
        try MailRecord(
          id: .init(host.random), appID: app, kind: .ready, recipient: recipient, subject: "", text: "", state: .failed,
          attempts: 1, createdDate: SystemTime().now, dueDate: nil, errorMessage: "550 unknown"
        ).insert(database)
      }
      let findings = try await Administration(folder: host.folder.string).findings()
      #expect(
        findings.contains { $0.name == "mail" && $0.isFault && $0.state.contains("ada@example.com: 550 unknown") })
    }

    /// Without a mail server, mails get too old to be sent, and their records are deleted.
    @Test func oldMailsAreDeleted() async throws {
      let host = try await host("ada@example.com"), transport = Transport()
      _ = try await host.published("one")
      host.time.advance(seconds: Assumptions.mailLifetime)
      try await MailQueue.expire(host.context)
      #expect(try await mails(host).first?.state == .failed)
      #expect(try await queue(host, transport).run() == 0)
      host.time.advance(seconds: Assumptions.mailRecordLifetime)
      try await MailQueue.expire(host.context)
      #expect(try await mails(host).isEmpty)
    }
  }
#endif
