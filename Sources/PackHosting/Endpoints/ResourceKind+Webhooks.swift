#if Hosting
  extension ResourceKind {
    static let webhook = ResourceKind(
      type: "webhooks", name: "Webhook", path: "/v1/webhooks",
      attributes: [
        .init(name: "enabled", schema: .boolean),
        .init(name: "eventTypes", schema: .list(.values(of: WebhookEventType.self))),
        .init(name: "name", schema: .text), .init(name: "url", schema: .uri),
      ],
      relationships: [
        .init(name: "app", type: "apps"), .init(name: "deliveries", type: "webhookDeliveries", isMany: true),
      ])

    static let webhookDelivery = ResourceKind(
      type: "webhookDeliveries", name: "WebhookDelivery", path: "/v1/webhookDeliveries",
      attributes: [
        .init(name: "createdDate", schema: .date),
        .init(name: "deliveryState", schema: .values(of: DeliveryState.self)),
        .init(name: "errorMessage", schema: .text), .init(name: "redelivery", schema: .boolean),
        .init(name: "sentDate", schema: .date),
        .init(name: "request", schema: .object([.init(name: "url", schema: .uri)])),
        .init(
          name: "response",
          schema: .object([
            .init(name: "httpStatusCode", schema: .integer(least: 0)), .init(name: "body", schema: .text),
          ])),
      ], relationships: [.init(name: "event", type: "webhookEvents")])

    static let webhookEvent = ResourceKind(
      type: "webhookEvents", name: "WebhookEvent", path: "/v1/webhookEvents",
      attributes: [
        .init(name: "eventType", schema: .values(of: WebhookEventType.self)), .init(name: "payload", schema: .text),
        .init(name: "ping", schema: .boolean), .init(name: "createdDate", schema: .date),
      ], relationships: [])

    static let webhookPing = ResourceKind(
      type: "webhookPings", name: "WebhookPing", path: "/v1/webhookPings", attributes: [], relationships: [])
  }
#endif
