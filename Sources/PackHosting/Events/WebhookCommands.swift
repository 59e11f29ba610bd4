#if Hosting
  import Foundation
  import GRDB

  /// The attributes of a new webhook.
  struct WebhookInput: Sendable {
    let name: String
    let url: String
    let secret: String
    let enabled: Bool
    let eventTypes: [WebhookEventType]
  }

  /// Changes of a webhook; `nil` leaves an attribute unchanged.
  struct WebhookChange: Sendable {
    var name: String?
    var url: String?
    var secret: String?
    var enabled: Bool?
    var eventTypes: [WebhookEventType]?
  }

  /// Creates and changes webhooks, and repeats deliveries.
  struct WebhookCommands: Sendable {
    let context: HostContext

    /// Whether addresses of private networks and `http` URLs are permitted.
    let permitsPrivateAddresses: Bool

    init(_ context: HostContext, permitsPrivateAddresses: Bool = false) {
      self.context = context
      self.permitsPrivateAddresses = permitsPrivateAddresses
    }

    /// - Throws: `APIError` 403; 409 for an unknown app, an invalid attribute, or too many webhooks.
    func create(_ input: WebhookInput, app: AppID, by principal: Principal) async throws -> WebhookRecord {
      try principal.require(.manageWebhooks)
      try check(name: input.name, url: input.url, secret: input.secret)
      return try await context.database.write { [context] database in
        guard try principal.app(app, in: database) != nil else {
          throw APIError.relationshipInvalid("app", app.rawValue)
        }
        let count = try WebhookRecord.filter(Column("appID") == app).fetchCount(database)
        guard count < Assumptions.webhooksPerApp else {
          throw APIError.limitReached("app '\(app)': has \(count) webhooks, its limit; delete a webhook first")
        }
        let webhook = WebhookRecord(
          id: .init(context.random), appID: app, name: input.name, url: input.url, secret: input.secret,
          enabled: input.enabled, eventTypes: input.eventTypes, createdDate: context.now)
        try webhook.insert(database)
        return webhook
      }
    }

    /// - Throws: `APIError` 403, 404; 409 for an invalid attribute.
    func update(
      _ id: Identifier<WebhookRecord>, _ change: WebhookChange, by principal: Principal
    ) async throws -> WebhookRecord {
      try principal.require(.manageWebhooks)
      try check(name: change.name, url: change.url, secret: change.secret)
      return try await context.database.write { database in
        guard var webhook = try principal.webhook(id, in: database) else { throw Self.notFound(id) }
        webhook.name = change.name ?? webhook.name
        webhook.url = change.url ?? webhook.url
        webhook.secret = change.secret ?? webhook.secret
        webhook.enabled = change.enabled ?? webhook.enabled
        webhook.eventTypes = change.eventTypes ?? webhook.eventTypes
        try webhook.update(database)
        return webhook
      }
    }

    /// Deletes a webhook and its deliveries.
    ///
    /// - Throws: `APIError` 403, 404.
    func delete(_ id: Identifier<WebhookRecord>, by principal: Principal) async throws {
      try principal.require(.manageWebhooks)
      try await context.database.write { database in
        guard let webhook = try principal.webhook(id, in: database) else { throw Self.notFound(id) }
        try webhook.delete(database)
      }
    }

    /// Sends a ping, also to a disabled webhook.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown webhook.
    func ping(_ id: Identifier<WebhookRecord>, by principal: Principal) async throws -> EventRecord {
      try principal.require(.manageWebhooks)
      return try await context.database.write { [context] database in
        guard let webhook = try principal.webhook(id, in: database) else {
          throw APIError.relationshipInvalid("webhook", id.rawValue)
        }
        return try Outbox(context).ping(webhook, in: database)
      }
    }

    /// Delivers the event of another delivery again, to the webhook's present URL.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown delivery.
    func redeliver(_ template: Identifier<DeliveryRecord>, by principal: Principal) async throws -> DeliveryRecord {
      try principal.require(.manageWebhooks)
      return try await context.database.write { [context] database in
        guard let (delivery, webhook) = try principal.delivery(template, in: database),
          let event = try EventRecord.fetchOne(database, key: ["id": delivery.eventID])
        else { throw APIError.relationshipInvalid("template", template.rawValue) }
        return try Outbox(context).deliver(event, to: webhook, isRedelivery: true, in: database)
      }
    }

    private static func notFound(_ id: Identifier<WebhookRecord>) -> APIError { .notFound("webhooks", id.rawValue) }

    private func check(name: String?, url: String?, secret: String?) throws {
      if let name, !(1...255).contains(name.utf8.count) {
        throw APIError.attributeInvalid("name", "not 1 to 255 bytes; choose another name")
      }
      if let secret, !(1...255).contains(secret.utf8.count) {
        throw APIError.attributeInvalid("secret", "not 1 to 255 bytes; choose another secret")
      }
      if let url, WebhookURL(url, permitsPrivateAddresses: permitsPrivateAddresses) == nil {
        throw APIError.attributeInvalid("url", "not an https URL with a host name and without a user; use another URL")
      }
    }
  }

  /// The address of a receiver.
  struct WebhookURL: Hashable, Sendable {
    let text: String
    let host: String

    /// - Parameter permitsPrivateAddresses: accepts `http` as well.
    init?(_ text: String, permitsPrivateAddresses: Bool) {
      guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
        let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
        parts.password == nil,
        parts.scheme == "https" || (permitsPrivateAddresses && parts.scheme == "http"), parts.fragment == nil
      else { return nil }
      self.text = text
      self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
  }
#endif
