#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// A web server must be able to read the files it serves, as another user, regardless of the publisher's umask. Permissions are only
// added, and only by the owner: files of other users stay as they are.

/// Lets all users read a file of a site. Links and other items that are not regular files stay as they are.
package func makeReadable(_ place: FilePlace) {
  guard let descriptor = try? openFile(place, .refuse) else { return }
  defer { close(descriptor) }
  allow(0o444, descriptor)
}

/// Lets all users enter and list a folder.
package func makeReadable(folder path: FilePath) {
  try? withFolderDescriptor(path) { allow(0o555, $0) }
}

extension NewFile {
  /// Lets all users read the file.
  package func makeReadable() { allow(0o444, descriptor.rawValue) }
}

private func allow(_ rights: mode_t, _ descriptor: CInt) {
  var info = stat()
  guard fstat(descriptor, &info) == 0 else { return }
  let mode = info.st_mode & 0o7777
  if mode | rights != mode { _ = fchmod(descriptor, mode | rights) }
}
