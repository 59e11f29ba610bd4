extension Manifest {
  /// A manifest to fill in, with a comment for each of its keys.
  public static let template = """
    // The manifest of an asset pack. Fill in what stands in [brackets] and take out what you do not need. What comes
    // after "//" is a comment. 'packstore evaluate' says whether it is right, and which files it selects.
    {
      // The name by which apps ask for the pack: letters, digits and hyphens.
      "assetPackID": "[Asset-Pack ID]",

      // When devices fetch the pack. One of:
      //   "essential": with the app, which opens when the pack is there;
      //   "prefetch": from the installation of the app on, in the background;
      //   "onDemand": when the app asks for it. Write "onDemand": {}
      "downloadPolicy": {
        "essential": {
          // At which events: one of them, or both.
          "installationEventTypes": [
            "firstInstallation",
            "subsequentUpdate"
          ]
        }
      },

      // The files of the pack, as many selectors as you like. Paths are relative to the source root.
      "fileSelectors": [
        // { "filePattern": "Levels/**/*.mesh" },
        // { "fileSource": "build/one.bin", "fileDestination": "Levels/1.bin" },
        // { "directorySource": "build/textures", "directoryDestination": "Textures" },
        // { "fileExclusion": "*.psd" },
        { "file": "[Path to File]" },
        { "directory": "[Path to Directory]" }
      ],

      // The folder that paths begin in, relative to this file. Without it, it is the folder where you run the command.
      // "sourceRoot": "../Assets",

      // The language of what is in the pack, as BCP 47 has it.
      // "language": "pt-BR",

      // What your app is to get along with the pack: any JSON.
      // "userInfo": { "chapter": 1 },

      // What other tools leave alone.
      // "packstore": {
      //   "placement": "purgeable",      // or "durable": whether a device may drop the pack when its disk is full
      //   "priority": 0,                 // which pack wins where several have the same path: the highest
      //   "map": [ "*.mesh" ],           // files to store raw and in one piece, so that apps can map them
      //   "level": 12,                   // compression, from 1 (fast) to 22 (small); -1 to -7: larger, faster to read
      //   "layout": "random",            // or "sequential", "compact": smaller, slower at random
      //   "appVersions": "2.0..<3"       // the versions of the app that the pack is for; also "2.0..." and "..<3"
      // },

      // The systems that the pack is for; none of them means all.
      "platforms": [
        "iOS",
        "macOS",
        "tvOS",
        "visionOS"
      ]
    }

    """
}
