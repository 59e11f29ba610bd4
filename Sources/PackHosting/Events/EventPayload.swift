#if Hosting
  import Foundation

  /// The body of a webhook, in Apple's form. Pack events have no `version`, and their `instance` has no `data`; other events have both.
  struct EventPayload: Encodable {
    struct Content: Encodable {
      let type: String
      let id: String
      var version: Int?
      let attributes: Attributes
      let relationships: Relationships
    }

    struct Attributes: Encodable {
      let timestamp: String
      var oldState: String?
      var newState: String?
      var oldValue: String?
      var newValue: String?
    }

    struct Relationships: Encodable { let instance: Instance }

    struct Instance: Encodable {
      var data: Linkage?
      var type: String?
      var id: String?
      let links: Links
    }

    struct Linkage: Encodable {
      let type: String
      let id: String
    }

    struct Links: Encodable {
      let `self`: String
    }

    let data: Content

    /// An event of a pack version or one of its releases.
    static func pack(
      _ type: String, event: String, at time: Timestamp, of objectType: String, _ object: String, origin: String,
      states: (old: String, new: String)? = nil
    ) -> EventPayload {
      EventPayload(
        data: Content(
          type: type, id: event,
          attributes: Attributes(timestamp: time.text, oldState: states?.old, newState: states?.new),
          relationships: Relationships(
            instance: Instance(
              type: objectType, id: object, links: Links(self: "\(origin)/v1/\(objectType)/\(object)")))))
    }

    /// An event of another object, or a ping.
    static func other(
      _ type: String, event: String, at time: Timestamp, of objectType: String, _ object: String, origin: String,
      values: (old: String, new: String)? = nil
    ) -> EventPayload {
      EventPayload(
        data: Content(
          type: type, id: event, version: 1,
          attributes: Attributes(timestamp: time.text, oldValue: values?.old, newValue: values?.new),
          relationships: Relationships(
            instance: Instance(
              data: Linkage(type: objectType, id: object), links: Links(self: "\(origin)/v1/\(objectType)/\(object)"))))
      )
    }

    /// The text that is signed and sent. It is the same in all deliveries of an event.
    func text() throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
#endif
