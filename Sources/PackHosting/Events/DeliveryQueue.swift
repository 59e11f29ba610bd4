#if Hosting
  import GRDB

  /// Sends deliveries that are due, and schedules retries.
  struct DeliveryQueue: Sendable {
    let context: HostContext
    let transport: any WebhookTransport
    let permitsPrivateAddresses: Bool

    /// Deliveries that are sent at the same time.
    static let width = 8

    init(_ context: HostContext, transport: any WebhookTransport, permitsPrivateAddresses: Bool = false) {
      self.context = context
      self.transport = transport
      self.permitsPrivateAddresses = permitsPrivateAddresses
    }

    private struct Due: Sendable {
      let delivery: DeliveryRecord
      let webhook: WebhookRecord
      let payload: String
    }

    /// Sends all deliveries that are due.
    ///
    /// - Returns: the number of attempts.
    @discardableResult
    func run() async throws -> Int {
      let due = try await context.database.read { [context] database in
        try DeliveryRecord.filter(Column("state") == DeliveryState.pending && Column("dueDate") <= context.now)
          .order(Column("dueDate")).limit(100).fetchAll(database).compactMap { delivery -> Due? in
            guard let webhook = try WebhookRecord.fetchOne(database, key: ["id": delivery.webhookID]),
              let event = try EventRecord.fetchOne(database, key: ["id": delivery.eventID])
            else { return nil }
            return Due(delivery: delivery, webhook: webhook, payload: event.payload)
          }
      }
      var rest = due[...]
      while !rest.isEmpty {
        let batch = rest.prefix(Self.width)
        rest = rest.dropFirst(Self.width)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for item in batch { group.addTask { try await send(item) } }
          try await group.waitForAll()
        }
      }
      return due.count
    }

    private func send(_ due: Due) async throws {
      var delivery = due.delivery
      delivery.attempts = min(delivery.attempts, Assumptions.retryDelays.count) + 1
      delivery.sentDate = context.now
      (delivery.statusCode, delivery.responseBody, delivery.errorMessage) = (nil, nil, nil)
      do {
        (delivery.statusCode, delivery.responseBody) = try await post(due)
        if let status = delivery.statusCode, !(200...299).contains(status) {
          delivery.errorMessage = "the receiver answered with status \(status)"
        }
      } catch let fault as DeliveryFault {
        delivery.errorMessage = fault.description
      } catch { delivery.errorMessage = "the receiver could not be reached: \(error)" }
      schedule(&delivery)
      let outcome = delivery
      // The webhook, and with it the delivery, may be deleted since then.
      try await context.database.write { database in
        guard try outcome.exists(database) else { return }
        try outcome.update(database)
      }
    }

    private func post(_ due: Due) async throws -> (Int, String) {
      guard let url = WebhookURL(due.delivery.url, permitsPrivateAddresses: permitsPrivateAddresses) else {
        throw DeliveryFault(description: "URL: not an https URL; change the webhook")
      }
      let signature = WebhookSignature.value(of: due.payload, secret: due.webhook.secret)
      return try await transport.post(
        url, body: due.payload,
        headers: [
          ("content-type", "application/json"), (WebhookSignature.header, signature), ("user-agent", "packstore-host"),
        ])
    }

    private func schedule(_ delivery: inout DeliveryRecord) {
      guard delivery.errorMessage != nil else {
        (delivery.state, delivery.dueDate) = (.succeeded, nil)
        return
      }
      guard delivery.attempts <= Assumptions.retryDelays.count else {
        (delivery.state, delivery.dueDate) = (.failed, nil)
        return
      }
      delivery.dueDate = context.now.adding(seconds: Assumptions.retryDelays[delivery.attempts - 1])
    }
  }
#endif
