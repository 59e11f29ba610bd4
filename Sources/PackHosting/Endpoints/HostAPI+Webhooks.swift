#if Hosting
  extension HostAPI {
    private var webhookCommands: WebhookCommands {
      WebhookCommands(context, permitsPrivateAddresses: permitsPrivateAddresses)
    }

    private static func attributes(areRequired: Bool) -> [BodySchema.Attribute] {
      [
        .init(name: "enabled", schema: .boolean, isRequired: areRequired),
        .init(name: "eventTypes", schema: .list(.values(of: WebhookEventType.self)), isRequired: areRequired),
        .init(name: "name", schema: .text, isRequired: areRequired),
        .init(name: "secret", schema: .text, isRequired: areRequired),
        .init(name: "url", schema: .uri, isRequired: areRequired),
      ]
    }

    private static let parameters: [ParameterSchema] = [.fields(.webhook), .fields(.app), .include(["app"])]

    var webhookRoutes: [Route] {
      let right = Right.manageWebhooks
      return [
        Route(
          method: .get, path: "/v1/apps/{id}/webhooks", summary: "List the webhooks of an app", right: right,
          parameters: Self.parameters + [.limit], included: [.app], result: .many(.webhook),
          handle: many(.webhook, of: .app) { Self.webhooks($0) }),
        Route(
          method: .get, path: "/v1/apps/{id}/relationships/webhooks", summary: "List the ids of an app's webhooks",
          right: right, parameters: [.limit], result: .linkages(.webhook),
          handle: linkages(.webhook, of: .app) { Self.webhooks($0) }),
        Route(
          method: .post, path: "/v1/webhooks", summary: "Create a webhook", right: right,
          body: BodySchema(
            type: "webhooks", name: "WebhookCreateRequest", attributes: Self.attributes(areRequired: true),
            relationships: [.init(name: "app", type: "apps", isRequired: true)]), result: .one(.webhook),
          handle: createWebhook),
        Route(
          method: .get, path: "/v1/webhooks/{id}", summary: "Read a webhook", right: right, parameters: Self.parameters,
          included: [.app], result: .one(.webhook), handle: one(.webhook)),
        Route(
          method: .patch, path: "/v1/webhooks/{id}", summary: "Change a webhook", right: right,
          body: BodySchema(
            type: "webhooks", name: "WebhookUpdateRequest", hasID: true, attributes: Self.attributes(areRequired: false)
          ),
          result: .one(.webhook), handle: updateWebhook),
        Route(
          method: .delete, path: "/v1/webhooks/{id}", summary: "Delete a webhook", right: right, result: .nothing
        ) { call in
          try await webhookCommands.delete(.init(rawValue: call.id), by: call.principal)
          return Answer(204)
        },
      ] + deliveryRoutes
    }

    private static func webhooks(_ call: Call) -> ResourceList { .init("webhook", [.init("appID = ?", call.id)]) }

    private func createWebhook(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let input = WebhookInput(
        name: try body.required(body.text("name")), url: try body.required(body.text("url")),
        secret: try body.required(body.text("secret")), enabled: try body.required(body.flag("enabled")),
        eventTypes: Self.eventTypes(body) ?? [])
      let webhook = try await webhookCommands.create(
        input, app: AppID(rawValue: try body.required(body.related("app"))), by: call.principal)
      return try await one(.webhook, webhook.id.rawValue, call, isCreated: true)
    }

    private func updateWebhook(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      var change = WebhookChange()
      (change.name, change.url, change.secret) = (body.text("name"), body.text("url"), body.text("secret"))
      (change.enabled, change.eventTypes) = (body.flag("enabled"), Self.eventTypes(body))
      _ = try await webhookCommands.update(.init(rawValue: call.id), change, by: call.principal)
      return try await one(.webhook, call.id, call)
    }

    private static func eventTypes(_ body: Body) -> [WebhookEventType]? {
      body.texts("eventTypes")?.compactMap { WebhookEventType(rawValue: $0) }
    }

    // MARK: - Deliveries

    private var deliveryRoutes: [Route] {
      let right = Right.manageWebhooks
      return [
        Route(
          method: .get, path: "/v1/webhooks/{id}/deliveries", summary: "List the deliveries of a webhook", right: right,
          parameters: [
            .filter("deliveryState", .names(DeliveryState.allCases.map(\.rawValue))),
            .filter("createdDateGreaterThanOrEqualTo", .date), .filter("createdDateLessThan", .date),
            .fields(.webhookDelivery), .fields(.webhookEvent), .limit, .include(["event"]),
          ], included: [.webhookEvent], result: .many(.webhookDelivery),
          handle: many(.webhookDelivery, of: .webhook) { Self.deliveries($0) }),
        Route(
          method: .get, path: "/v1/webhooks/{id}/relationships/deliveries",
          summary: "List the ids of a webhook's deliveries",
          right: right, parameters: [.limit], result: .linkages(.webhookDelivery),
          handle: linkages(.webhookDelivery, of: .webhook) { Self.deliveries($0) }),
        Route(
          method: .post, path: "/v1/webhookDeliveries", summary: "Deliver an event again", right: right,
          body: BodySchema(
            type: "webhookDeliveries", name: "WebhookDeliveryCreateRequest",
            relationships: [.init(name: "template", type: "webhookDeliveries", isRequired: true)]),
          result: .one(.webhookDelivery)
        ) { call in
          let body = try call.requireBody()
          let delivery = try await webhookCommands.redeliver(
            .init(rawValue: try body.required(body.related("template"))), by: call.principal)
          return try await one(.webhookDelivery, delivery.id.rawValue, call, isCreated: true)
        },
        Route(
          method: .post, path: "/v1/webhookPings", summary: "Send a ping to a webhook", right: right,
          body: BodySchema(
            type: "webhookPings", name: "WebhookPingCreateRequest",
            relationships: [.init(name: "webhook", type: "webhooks", isRequired: true)]), result: .one(.webhookPing)
        ) { call in
          let body = try call.requireBody()
          let event = try await webhookCommands.ping(
            .init(rawValue: try body.required(body.related("webhook"))), by: call.principal)
          return .one(Resource(kind: .webhookPing, id: event.id.rawValue, attributes: []), call, isCreated: true)
        },
      ]
    }

    /// The newest delivery is the first.
    private static func deliveries(_ call: Call) -> ResourceList {
      var conditions: [ResourceList.Condition] = [.init("webhookID = ?", call.id)]
      if let condition = call.condition("deliveryState", "state") { conditions.append(condition) }
      for (name, comparison) in [("createdDateGreaterThanOrEqualTo", ">="), ("createdDateLessThan", "<")] {
        for moment in (call.query.filters[name] ?? []).compactMap({ Timestamp(text: $0) }) {
          conditions.append(.init("createdDate \(comparison) CAST(? AS INTEGER)", String(moment.rawValue)))
        }
      }
      return ResourceList("delivery", conditions, isDescending: true)
    }
  }
#endif
