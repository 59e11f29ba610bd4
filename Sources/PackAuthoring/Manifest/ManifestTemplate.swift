extension Manifest {
  /// A manifest to fill in, with a comment for each of its keys.
  public static let template = """
    // The manifest of an asset pack. Replace the placeholders in [brackets], and delete the members that you do not
    // need. Text after "//" is a comment. 'packstore evaluate' checks the manifest and lists the selected files.
    {
      // The name by which apps request the pack: letters, digits and hyphens.
      "assetPackID": "[Asset-Pack ID]",

      // When devices download the pack. One of:
      //   "essential": with the app, which opens after the pack is installed;
      //   "prefetch": in the background, starting with the installation of the app;
      //   "onDemand": when the app requests it. Write "onDemand": {}
      "downloadPolicy": {
        "essential": {
          // The events that start the download: one or both.
          "installationEventTypes": [
            "firstInstallation",
            "subsequentUpdate"
          ]
        }
      },

      // The selectors of the pack's files, in any number. Paths are relative to the source root.
      "fileSelectors": [
        // { "filePattern": "Levels/**/*.mesh" },
        // { "fileSource": "build/one.bin", "fileDestination": "Levels/1.bin" },
        // { "directorySource": "build/textures", "directoryDestination": "Textures" },
        // { "fileExclusion": "*.psd" },
        { "file": "[Path to File]" },
        { "directory": "[Path to Directory]" }
      ],

      // The source root, relative to this file (default: the folder in which you run the command).
      // "sourceRoot": "../Assets",

      // The language of the pack's content, as a BCP 47 tag.
      // "language": "pt-BR",

      // Information for your app, in any JSON value.
      // "userInfo": { "chapter": 1 },

      // Members that other tools ignore.
      // "packstore": {
      //   "placement": "purgeable",      // or "durable": whether a device may delete the data when its disk is full
      //   "priority": 0,                 // if packs have the same path, the highest priority wins
      //   "map": [ "*.mesh" ],           // files to store uncompressed and contiguous, so that apps can map them
      //   "level": 12,                   // compression, from 1 (fast) to 22 (small); -1 to -7: larger, faster to read
      //   "layout": "random",            // or "sequential", "compact": smaller, slower at random
      //   "appVersions": "2.0..<3"       // the versions of the app that the pack is for; also "2.0..." and "..<3"
      // },

      // The platforms that the pack is for; an empty list means all.
      "platforms": [
        "iOS",
        "macOS",
        "tvOS",
        "visionOS"
      ]
    }

    """
}
