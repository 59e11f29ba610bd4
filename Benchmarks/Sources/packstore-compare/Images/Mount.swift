import Foundation
import Synchronization

/// The images that this process has mounted.
final class Mount: Sendable {
  static let shared = Mount()

  private let folders = Mutex<Set<String>>([])

  /// Why nothing can be mounted here, or nil. What only trying can tell is thrown by `mount`.
  static var unavailability: String? {
    if geteuid() != 0 { return "only root may mount it" }
    if access("/dev/loop-control", F_OK) != 0 { return "no loop devices exist to mount it with" }
    return nil
  }

  /// Mounts an image read-only, unless it is mounted.
  func mount(_ image: String, _ fileSystem: String, at folder: String) throws {
    try folders.withLock { folders in
      guard !folders.contains(folder) else { return }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      do {
        try Program("mount").run(["-t", fileSystem, "-o", "ro,loop", image, folder])
      } catch let failure as ProgramFailure {
        // If it was ended halfway.
        umount2(folder, CInt(MNT_DETACH))
        throw Unavailable("it cannot be mounted: \(failure)")
      }
      folders.insert(folder)
    }
  }

  /// Unmounts the file system at the folder, if any; its loop device is released too.
  func unmount(_ folder: String) {
    folders.withLock { folders in
      guard folders.remove(folder) != nil else { return }
      // A process may still read when the benchmark is interrupted: then it goes away after that.
      if umount2(folder, 0) != 0 { umount2(folder, CInt(MNT_DETACH)) }
    }
  }
}
