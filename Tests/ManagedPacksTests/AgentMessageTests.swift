import Foundation
import PackStore
import Testing

@testable import ManagedPacks

/// Any bytes from the socket or from an extension are a message or an error.
@Suite struct AgentMessageTests {
  static let requests: [AgentRequest] =
    [.status, .refresh, .handOver("Tutorial")] + BAContentRequest.allCases.map { .event($0, app: nil) }
    + [.event(.install, app: "com.example \"game\" ü\n")]

  static let replies: [AgentReply] = [
    .status(process: 1), .done(packs: []), .done(packs: ["A", "B"]), .failed(reason: "no network"),
  ]

  @Test(arguments: requests) func requestsAreReadAsWritten(request: AgentRequest) throws {
    #expect(try AgentRequest(decoding: request.encode()) == request)
    damage(request.encode()) { _ = try AgentRequest(decoding: $0) }
  }

  @Test(arguments: replies) func repliesAreReadAsWritten(reply: AgentReply) throws {
    #expect(try AgentReply(decoding: reply.encode()) == reply)
    damage(reply.encode()) { _ = try AgentReply(decoding: $0) }
  }

  /// No bit that is turned, and no end that is cut off, is a trap.
  private func damage(_ bytes: [UInt8], _ decode: ([UInt8]) throws -> Void) {
    for index in bytes.indices {
      try? decode(Array(bytes.prefix(index)))
      for bit in [0x01, 0x20, 0x80] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= bit
        try? decode(damaged)
      }
    }
  }

  @Test(
    arguments: [
      ("", .malformed), ("{}", .malformed), ("[]", .malformed), ("null", .malformed), ("\u{0}", .malformed),
      (#"{"ask":"status"}"#, .malformed), (#"{"ask":"status","format":0}"#, .malformed),
      (#"{"ask":"status","format":-1}"#, .malformed), (#"{"ask":"status","format":1.0}"#, .malformed),
      (#"{"ask":"status","format":"1"}"#, .malformed), (#"{"ask":"status","format":2}"#, .newer),
      (#"{"ask":"status","format":99999999999999999999999}"#, .malformed), (#"{"ask":"","format":1}"#, .malformed),
      (#"{"ask":"status","format":1}x"#, .malformed), (#"{"ask":"status","ask":"status","format":1}"#, .malformed),
      (#"{"ask":"never","format":1}"#, .malformed), (#"{"ask":3,"format":1}"#, .malformed),
      (#"{"ask":"handover","format":1}"#, .malformed), (#"{"ask":"handover","format":1,"pack":"../x"}"#, .malformed),
      (#"{"ask":"handover","format":1,"pack":3}"#, .malformed),
      (#"{"ask":"event","format":1}"#, .malformed), (#"{"ask":"event","event":"never","format":1}"#, .malformed),
      (#"{"app":"","ask":"event","event":"install","format":1}"#, .malformed),
      (#"{"app":3,"ask":"event","event":"install","format":1}"#, .malformed),
      (#"{"app":"\#(String(repeating: "a", count: 5000))","ask":"event","event":"install","format":1}"#, .malformed),
      (String(repeating: "[", count: 60_000), .malformed), (String(repeating: #"{"a":"#, count: 9_000), .malformed),
    ] as [(String, AgentMessageError)])
  func noRequest(text: String, error: AgentMessageError) {
    #expect(throws: error) { try AgentRequest(decoding: Array(text.utf8)) }
  }

  @Test(arguments: [
    "", #"{"answer":"done"}"#, #"{"answer":"status","format":1}"#, #"{"answer":"status","format":1,"process":1e9}"#,
    #"{"answer":"status","format":1,"process":4294967296}"#, #"{"answer":"failed","format":1}"#,
    #"{"answer":"done","format":1,"packs":["a/b"]}"#, #"{"answer":"done","format":1,"packs":[1]}"#,
    #"{"answer":"done","format":1,"packs":[\#(String(repeating: "\"a\",", count: 300))"a"]}"#,
  ])
  func noReply(text: String) {
    #expect(throws: AgentMessageError.self) { try AgentReply(decoding: Array(text.utf8)) }
  }

  /// Properties of later versions are ignored.
  @Test func unknownMembers() throws {
    let text = #"{"ask":"refresh","format":1,"later":{"a":[1,2]}}"#
    #expect(try AgentRequest(decoding: Array(text.utf8)) == .refresh)
  }

  // MARK: - Frames

  /// Wherever a stream is cut, the same messages come of it.
  @Test func framesOfAnyParts() throws {
    let messages: [[UInt8]] = [[], [1], Array(repeating: 7, count: 300), Array("last".utf8)]
    let stream = try messages.flatMap { try MessageFrames.frame($0) }
    for step in 1..<stream.count {
      var frames = MessageFrames(), found: [[UInt8]] = []
      for begin in Swift.stride(from: 0, to: stream.count, by: step) {
        frames.append(stream[begin..<min(begin + step, stream.count)])
        while let message = try frames.next() { found.append(message) }
      }
      #expect(found == messages && !frames.isPartial)
    }
  }

  @Test func framesThatAreTooLong() throws {
    #expect(try MessageFrames.frame(Array(repeating: 0, count: 65_536)).count == 65_540)
    #expect(throws: AgentMessageError.tooLong) { try MessageFrames.frame(Array(repeating: 0, count: 65_537)) }
    for header in [[0, 1, 0, 1], [0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0]] as [[UInt8]] {
      var frames = MessageFrames()
      frames.append(header)
      #expect(throws: AgentMessageError.tooLong) { try frames.next() }
    }
    // Never more room than one message takes.
    var frames = MessageFrames()
    #expect(frames.room == 65_540)
    frames.append([0, 1, 0, 0] + [UInt8](repeating: 1, count: 65_535))
    #expect(try frames.next() == nil && frames.room == 1)
    frames.append([1])
    #expect(try frames.next()?.count == 65_536 && frames.room == 65_540)
  }

  // MARK: - Extensions

  @Test func filterMessages() throws {
    let info = try UserInfo(json: #"{"levels" : [1, 2]}"#)
    let policies: [DownloadPolicy] = [
      .onDemand, .essential(on: [.firstInstallation]), .prefetch(on: [.firstInstallation, .subsequentUpdate]),
    ]
    for policy in policies {
      for language in [nil, try LanguageTag("de-AT")] {
        let attributes = try Attributes(downloadPolicy: policy, language: language, userInfo: info)
        let pack = AssetPack(
          id: "A", version: 7, downloadByteCount: 1 << 40, attributes: attributes, origin: .unknown)
        let request = FilterRequest(pack)
        #expect(try FilterRequest(decoding: request.encode()) == request)
        #expect(try FilterRequest(decoding: request.encode()).pack.userInfo == pack.userInfo)
        damage(request.encode()) { _ = try FilterRequest(decoding: $0) }
      }
    }
    for isWanted in [true, false] {
      let reply = FilterReply("A", isWanted: isWanted)
      #expect(try FilterReply(decoding: reply.encode()) == reply)
      damage(reply.encode()) { _ = try FilterReply(decoding: $0) }
    }
  }

  @Test(arguments: [
    #"{"answer":"filter","fetch":1,"format":1,"id":"A"}"#, #"{"answer":"filter","fetch":true,"format":1}"#,
    #"{"answer":"filter","format":1,"id":"A"}"#, #"{"answer":"done","fetch":true,"format":1,"id":"A"}"#,
    #"{"answer":"filter","fetch":true,"format":2,"id":"A"}"#,
  ])
  func noFilterReply(text: String) {
    #expect(throws: AgentMessageError.self) { try FilterReply(decoding: Array(text.utf8)) }
  }

  @Test(arguments: [
    #""id":"A","policy":"onDemand","version":-1"#, #""id":"a/b","policy":"onDemand","version":1"#,
    #""id":"A","policy":"later","version":1"#, #""id":"A","policy":"essential","version":1"#,
    #""events":["firstInstallation"],"id":"A","policy":"onDemand","version":1"#,
    #""events":[3],"id":"A","policy":"essential","version":1"#,
    #""id":"A","language":"12","policy":"onDemand","version":1"#,
    #""id":"A","policy":"onDemand","userInfo":"%","version":1"#,
    #""id":"A","policy":"onDemand","userInfo":"e30","version":1"#,
    #""id":"A","policy":"onDemand","userInfo":"ew==","version":1"#,
  ])
  func noFilterRequest(members: String) {
    let text = #"{"ask":"filter","downloadSize":1,"format":1,\#(members)}"#
    #expect(throws: AgentMessageError.self) { try FilterRequest(decoding: Array(text.utf8)) }
  }
}
