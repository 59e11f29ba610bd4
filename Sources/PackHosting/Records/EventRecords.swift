#if Hosting
  import Foundation
  import GRDB

  struct WebhookRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "webhook"

    let id: Identifier<WebhookRecord>
    let appID: AppID
    var name: String
    var url: String
    var secret: String
    var enabled: Bool
    var eventTypes: [WebhookEventType]
    let createdDate: Timestamp
  }

  /// An event in the outbox. Its id is the same in all deliveries.
  struct EventRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "event"

    let id: Identifier<EventRecord>
    let appID: AppID

    /// `nil` for a ping.
    let eventType: WebhookEventType?
    let payload: String
    let ping: Bool
    let createdDate: Timestamp
  }

  struct DeliveryRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "delivery"

    let id: Identifier<DeliveryRecord>
    let webhookID: Identifier<WebhookRecord>
    let eventID: Identifier<EventRecord>
    var state: DeliveryState
    let redelivery: Bool
    let url: String
    let createdDate: Timestamp
    var sentDate: Timestamp?
    var attempts: Int

    /// When the next attempt is due; `nil` after the last.
    var dueDate: Timestamp?
    var statusCode: Int?
    var responseBody: String?
    var errorMessage: String?
  }
#endif
