#if Hosting
  extension APIError {
    static func forbidden(_ detail: String) -> APIError {
      APIError(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons", detail)
    }

    static func notFound(_ type: String, _ id: String) -> APIError {
      APIError(
        404, "NOT_FOUND", "The specified resource does not exist",
        "\(type): no resource with the id '\(id)'; check the id")
    }

    /// - Parameter name: the attribute's name.
    static func attributeRequired(_ name: String) -> APIError {
      APIError(
        409, "ENTITY_ERROR.ATTRIBUTE.REQUIRED", "The provided entity is missing a required attribute",
        "attribute '\(name)': missing; provide a value", at: .pointer("/data/attributes/\(name)"))
    }

    static func attributeInvalid(_ name: String, _ detail: String) -> APIError {
      APIError(
        409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "An attribute value is not valid", "attribute '\(name)': \(detail)",
        at: .pointer("/data/attributes/\(name)"))
    }

    static func attributeType(_ name: String, valid: [String]) -> APIError {
      APIError(
        409, "ENTITY_ERROR.ATTRIBUTE.TYPE", "An attribute in the provided entity has the wrong type",
        "attribute '\(name)': not a valid value; use one of \(valid.joined(separator: ", "))",
        at: .pointer("/data/attributes/\(name)"))
    }

    static func duplicate(_ name: String, _ value: String) -> APIError {
      APIError(
        409, Assumptions.duplicatePackCode,
        "The provided entity includes an attribute with a value that is already in use",
        "attribute '\(name)': '\(value)' is already in use; choose another value",
        at: .pointer("/data/attributes/\(name)"))
    }

    /// An attribute that the object's state does not permit to change.
    static func invalidState(_ name: String, _ detail: String) -> APIError {
      APIError(
        409, "ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE", "An attribute value is not valid in the current state",
        "attribute '\(name)': \(detail)", at: .pointer("/data/attributes/\(name)"))
    }

    static func relationshipRequired(_ name: String) -> APIError {
      APIError(
        409, "ENTITY_ERROR.RELATIONSHIP.REQUIRED", "The provided entity is missing a required relationship",
        "relationship '\(name)': missing; name an object", at: .pointer("/data/relationships/\(name)"))
    }

    /// An unknown object and an object of another team have the same answer, so that other teams' ids stay secret.
    static func relationshipInvalid(_ name: String, _ id: String) -> APIError {
      APIError(
        409, Assumptions.unknownRelationshipCode, "The provided entity includes a relationship with an invalid value",
        "relationship '\(name)': no resource with the id '\(id)'; check the id",
        at: .pointer("/data/relationships/\(name)"))
    }

    static func relationshipNotOffered(_ name: String) -> APIError {
      APIError(
        409, Assumptions.unknownRelationshipCode, "The provided entity includes a relationship with an invalid value",
        "relationship '\(name)': this host reviews packs and app versions only; name another object",
        at: .pointer("/data/relationships/\(name)"))
    }

    static func entityState(_ detail: String, associated: [String: [APIError]] = [:]) -> APIError {
      var error = APIError(
        409, "STATE_ERROR.ENTITY_STATE_INVALID",
        "The request cannot be fulfilled because of the state of another resource",
        detail)
      error.associated = associated
      return error
    }

    static func alreadyExists(_ detail: String) -> APIError {
      APIError(
        409, "STATE_ERROR.ALREADY_EXISTS", "The request cannot be fulfilled because of the state of another resource",
        detail)
    }

    /// Clients read the id of the other submission from the detail.
    static func itemElsewhere(_ type: String, _ id: String, submission: String) -> APIError {
      APIError(
        409, "STATE_ERROR.ITEM_PART_OF_ANOTHER_SUBMISSION",
        "The request cannot be fulfilled because of the state of another resource",
        "\(type) with id '\(id)' is part of another reviewSubmission with id \(submission); cancel that submission")
    }

    /// A limit of the app or of the host.
    static func limitReached(_ detail: String) -> APIError {
      APIError(409, "STATE_ERROR.LIMIT_REACHED", "The request exceeds a limit", detail)
    }

    /// The host's disk is full, or the app's quota is used up, while a part is sent. The client may retry.
    static func unavailable(_ detail: String) -> APIError {
      APIError(503, "SERVICE_UNAVAILABLE", "The service cannot process the request at the moment", detail)
    }

    /// A fault of the host itself. The cause is in its log.
    static let internalFault = APIError(
      500, "UNEXPECTED_ERROR", "An unexpected error occurred", "the host could not process the request; try again later"
    )
  }
#endif
