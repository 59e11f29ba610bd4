/// Help texts of options that several commands share.

import ArgumentParser

extension ArgumentHelp {
  /// The site of a publisher's command.
  static var publishedSite: Self { "The site: a folder or s3://bucket/prefix." }

  /// `--no-wait` of a publisher's command.
  static var failsIfPublishing: Self {
    "Fail immediately if another process is publishing to the site (default: wait)."
  }

  /// `--ca` of a command that reads from servers.
  static var trustedCertificates: Self {
    .init(
      "PEM file with the trusted certificates, in place of the system's; overrides SSL_CERT_FILE.", valueName: "file")
  }

  static var threadCount: Self { .init("Number of threads (default: one per processor).", valueName: "n") }

  /// `--keep` of commands that install versions.
  static var keptVersionCount: Self {
    .init("Number of readable versions to keep of each pack, including the new one.", valueName: "n")
  }

  static var keepsGeneration: Self {
    "Keep files of the previous generation until the next commit (default: delete them immediately)."
  }

  /// `--gc` of commits and publications.
  static var collectionPercent: Self {
    .init(
      """
      Limit for copying data out of segments that are mostly unused, in percent of the data written; 0 disables \
      copying.
      """, valueName: "percent")
  }

  /// `--trust` of sites, archives and deltas.
  static var trustedKey: Self {
    .init("The publisher's public key; data signed by another key is refused.", valueName: "key")
  }

  /// `--adopt` of commands that install one pack.
  static var adoptsPack: Self { "Adopt the pack if it has another origin; its history is deleted." }

  /// `--downgrade` of commands that install one pack.
  static var allowsDowngrade: Self { "Accept a version that is lower than the last accepted one." }

  /// `--limit-rate`.
  static var downloadRate: Self {
    .init("Maximum download rate in bytes per second, such as 500k or 2M (default: unlimited).", valueName: "bytes")
  }

  /// `--dry-run` of commands that fetch versions.
  static var plansDownload: Self { "Report the data to download without changing the store." }

  /// `--from` of commands that need purged data.
  static var missingDataSource: Self { .init("Site or store to fetch missing data from.", valueName: "place") }

  /// `--force` of commands that write a file.
  static var replacesFile: Self { "Replace the output file if it exists." }

  /// The argument for a version in a store.
  static var keptVersion: Self {
    .init("The pack, at its current version or a kept one.", valueName: "pack[@version]")
  }

  /// `--channel` of commands that change a channel.
  static var targetChannel: Self { .init("The channel (default: live).", valueName: "name") }
}
