import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A stand-in for S3 on this machine: `Tests/Storage/serve`. It ends with its owner, or with this process.
final class StorageServer: @unchecked Sendable {
  let port: Int
  private let process: Process
  private let input: Pipe

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  /// Python of the environment made by `Tests/Storage/setup`; `nil` if that failed.
  static let python: String? = {
    let path = package.appendingPathComponent(".build/storage/bin/python").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  /// - Parameter rate: how many of 1000 requests meet a fault.
  init(bucket: String = "assets", seed: UInt32 = 1, rate: Int = 0) throws {
    process = Process()
    input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = [Self.script("serve"), bucket, "\(seed)", "\(rate)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
    port = try #require(Int(String(decoding: line, as: UTF8.self)))
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  static func script(_ name: String) -> String { package.appendingPathComponent("Tests/Storage/\(name)").path }

  var url: String { "http://127.0.0.1:\(port)" }

  /// The variables of a publisher's shell.
  var environment: [String: String] {
    [
      "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_ENDPOINT_URL": url,
      "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    ]
  }

  /// Sends settings to the server, and returns its counts.
  @discardableResult
  func control(_ json: String) throws -> [String: Int] {
    // curl starts much faster than Python.
    let data = try run(
      ["-sSf", "--data-binary", json, "\(url)/_control"], by: URL(fileURLWithPath: "/usr/bin/env"), ["curl"])
    return try JSONDecoder().decode([String: Int].self, from: data)
  }

  /// Damages or deletes the object of a file of the image, as the file's name begins.
  func change(_ name: String, prefix: String, to fault: String) throws {
    _ = try run(["-c", Self.client + Self.change, url, "assets", prefix, name, fault])
  }

  func put(_ bytes: [UInt8], at key: String) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("put-\(UUID())")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let script = "client.put_object(Bucket=sys.argv[2], Key=sys.argv[3], Body=open(sys.argv[4], 'rb').read())"
    _ = try run(["-c", Self.client + script, url, "assets", key, file.path])
  }

  func get(_ key: String) throws -> [UInt8] {
    let script = "sys.stdout.buffer.write(client.get_object(Bucket=sys.argv[2], Key=sys.argv[3])['Body'].read())"
    return Array(try run(["-c", Self.client + script, url, "assets", key]))
  }

  private static let client = """
    import boto3, sys
    client = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="AKIDEXAMPLE",
                          aws_secret_access_key="not-a-secret")

    """

  private static let change = """
    url, bucket, prefix, name, fault = sys.argv[1:]
    def body(key):
        return client.get_object(Bucket=bucket, Key=key)["Body"].read()
    private = prefix + ".publisher/"
    image = next(l.split(b" ")[1].decode() for l in body(private + "ledger").split(b"\\n") if l.startswith(b"image "))
    words = next(w for w in (l.split() for l in body(private + "blobs/" + image).decode().split("\\n")) if w and w[-1].startswith(name))
    key = f"{private}blobs/{words[-2]}" if name.startswith(("tables/", "index/")) else f"{prefix}/{words[-1]}"
    if fault == "lost":
        client.delete_object(Bucket=bucket, Key=key)
    else:
        data = bytearray(body(key))
        data[len(data) // 2] ^= 1
        client.put_object(Bucket=bucket, Key=key, Body=bytes(data))
    """

  /// The result of an independent client: no file of a root is missing, and nothing below the public prefix is private.
  func verify(_ prefix: String, exactly: Bool = false) throws -> String {
    let data = try run([Self.script("verify-site"), url, "assets", prefix] + (exactly ? ["--exactly"] : []))
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func run(_ arguments: [String], by program: URL? = nil, _ first: [String] = []) throws -> Data {
    let process = Process(), pipe = Pipe()
    process.executableURL = try program ?? URL(fileURLWithPath: #require(Self.python))
    process.arguments = first + arguments
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return data
  }
}
