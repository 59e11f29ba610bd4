extension Manifest {
  /// A JSON Schema (2020-12) of manifests without comments, for editors. `Docs/manifest.schema.json` contains the same text.
  public static let schema = #"""
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "The manifest of an asset pack",
      "type": "object",
      "required": ["assetPackID", "downloadPolicy", "fileSelectors"],
      "additionalProperties": false,
      "properties": {
        "assetPackID": {
          "type": "string",
          "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$",
          "description": "the pack's name; App Store Connect accepts only letters, digits and hyphens"
        },
        "downloadPolicy": {
          "description": "when devices fetch the pack",
          "type": "object",
          "minProperties": 1,
          "maxProperties": 1,
          "additionalProperties": false,
          "properties": {
            "essential": { "$ref": "#/$defs/events", "description": "with the app, which opens when the pack is installed" },
            "prefetch": { "$ref": "#/$defs/events", "description": "from the installation on, in the background" },
            "onDemand": { "type": "object", "maxProperties": 0, "description": "when the app requests it" }
          }
        },
        "fileSelectors": {
          "description": "the files of the pack",
          "type": "array",
          "minItems": 1,
          "items": {
            "oneOf": [
              { "$ref": "#/$defs/file" },
              { "$ref": "#/$defs/directory" },
              { "$ref": "#/$defs/filePattern" },
              { "$ref": "#/$defs/movedFile" },
              { "$ref": "#/$defs/movedDirectory" },
              { "$ref": "#/$defs/fileExclusion" }
            ]
          }
        },
        "platforms": {
          "description": "the supported platforms; an empty list means all",
          "type": "array",
          "items": { "enum": ["iOS", "macOS", "tvOS", "visionOS"] }
        },
        "sourceRoot": { "type": "string", "minLength": 1, "description": "the folder of all paths, relative to the manifest" },
        "language": { "type": "string", "maxLength": 64, "description": "a language tag of BCP 47" },
        "userInfo": { "description": "any JSON for the app" },
        "toolsVersion": { "description": "for Apple's packager; ignored by PackStore" },
        "packstore": {
          "description": "settings that other tools ignore",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "placement": { "enum": ["durable", "purgeable"], "description": "purgeable: a device may delete the pack's data" },
            "priority": { "type": "integer", "minimum": -2147483648, "maximum": 2147483647 },
            "map": {
              "description": "files to store uncompressed in one piece",
              "type": "array",
              "items": { "$ref": "#/$defs/pattern" }
            },
            "level": {
              "type": "integer", "minimum": -7, "maximum": 22, "not": { "const": 0 },
              "description": "compression level: from 1 (fast) to 22 (small); -1 to -7: larger, and faster to read"
            },
            "layout": { "enum": ["random", "sequential", "compact"], "description": "how assets will be read" },
            "appVersions": {
              "type": "string",
              "pattern": "^([0-9.]+\\.\\.\\.|[0-9.]*\\.\\.<[0-9.]+)$",
              "description": "2.0..<3, 2.0... or ..<3"
            },
            "label": {
              "type": "string",
              "pattern": "^(?!current$|previous$|[0-9]+$)[A-Za-z0-9._+-]{1,64}$",
              "description": "the publisher's name for the version"
            },
            "note": {
              "type": "string",
              "minLength": 1,
              "maxLength": 1000,
              "description": "the publisher's note on the version; '--publish-notes' makes it public"
            }
          }
        }
      },
      "$defs": {
        "path": { "type": "string", "minLength": 1, "maxLength": 4096, "pattern": "^[^/]" },
        "pattern": { "type": "string", "minLength": 1, "maxLength": 1024 },
        "events": {
          "type": "object",
          "required": ["installationEventTypes"],
          "additionalProperties": false,
          "properties": {
            "installationEventTypes": {
              "type": "array",
              "minItems": 1,
              "items": { "enum": ["firstInstallation", "subsequentUpdate"] }
            }
          }
        },
        "file": {
          "type": "object",
          "required": ["file"],
          "additionalProperties": false,
          "properties": { "file": { "$ref": "#/$defs/path" } }
        },
        "directory": {
          "type": "object",
          "required": ["directory"],
          "additionalProperties": false,
          "properties": { "directory": { "$ref": "#/$defs/path" } }
        },
        "filePattern": {
          "type": "object",
          "required": ["filePattern"],
          "additionalProperties": false,
          "properties": { "filePattern": { "$ref": "#/$defs/pattern" } }
        },
        "movedFile": {
          "type": "object",
          "required": ["fileSource", "fileDestination"],
          "additionalProperties": false,
          "properties": {
            "fileSource": { "$ref": "#/$defs/path" },
            "fileDestination": { "$ref": "#/$defs/path" }
          }
        },
        "movedDirectory": {
          "type": "object",
          "required": ["directorySource", "directoryDestination"],
          "additionalProperties": false,
          "properties": {
            "directorySource": { "$ref": "#/$defs/path" },
            "directoryDestination": { "$ref": "#/$defs/path" }
          }
        },
        "fileExclusion": {
          "type": "object",
          "required": ["fileExclusion"],
          "additionalProperties": false,
          "properties": { "fileExclusion": { "$ref": "#/$defs/pattern" } }
        }
      }
    }

    """#
}
