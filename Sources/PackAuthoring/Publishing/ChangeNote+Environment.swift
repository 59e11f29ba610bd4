public import PackFormats
import PackStore

extension ChangeNote {
  /// Describes a change by the variables of the build service that runs it, or by the user's login name.
  ///
  /// GitHub, Forgejo and Gitea, GitLab, CircleCI, Azure Pipelines, Bitbucket, Buildkite, Jenkins and TeamCity are recognized. Only the
  /// variables with the user, the URL of the job, and the commit are read, never tokens.
  ///
  /// - Parameters:
  ///   - environment: the variables of the process.
  ///   - note: the user's own text.
  public init(environment: [String: String], note: String? = nil) {
    let value: (String) -> String? = { name in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let service = BuildService.allCases.first { value($0.mark) != nil }
    self.init(
      user: service.map { $0.user(value) } ?? value("LOGNAME") ?? value("USER"),
      jobURL: service?.jobURL(value).flatMap(Self.withoutSecrets), commit: service?.commit(value), note: note)
  }

  /// Removes a name and password, the query, except a number of a build, and the fragment: they may contain tokens.
  private static func withoutSecrets(_ text: String) -> String? {
    guard var parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme?.lowercased()),
      parts.host?.isEmpty == false
    else { return nil }
    (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
    let numbers = parts.queryItems?.filter { $0.name == "buildId" && UInt64($0.value ?? "") != nil } ?? []
    parts.queryItems = numbers.isEmpty ? nil : numbers
    return parts.string
  }
}

/// A service that runs build jobs, and its variables.
private enum BuildService: CaseIterable {
  case gitHub, gitLab, circle, azure, bitbucket, buildkite, teamCity, jenkins

  /// A variable that only this service sets. Jenkins comes last, because jobs of other services set its names, too.
  var mark: String {
    switch self {
    case .gitHub: "GITHUB_RUN_ID"
    case .gitLab: "GITLAB_CI"
    case .circle: "CIRCLE_BUILD_NUM"
    case .azure: "BUILD_BUILDID"
    case .bitbucket: "BITBUCKET_BUILD_NUMBER"
    case .buildkite: "BUILDKITE_BUILD_ID"
    case .teamCity: "TEAMCITY_VERSION"
    case .jenkins: "JENKINS_URL"
    }
  }

  func user(_ value: (String) -> String?) -> String? {
    switch self {
    case .gitHub: value("GITHUB_TRIGGERING_ACTOR") ?? value("GITHUB_ACTOR")
    case .gitLab: value("GITLAB_USER_LOGIN")
    case .circle: value("CIRCLE_USERNAME")
    case .azure: value("BUILD_REQUESTEDFOR")
    case .bitbucket: value("BITBUCKET_STEP_TRIGGERER_UUID")
    case .buildkite: value("BUILDKITE_BUILD_CREATOR")
    case .teamCity: nil
    case .jenkins: value("BUILD_USER_ID") ?? value("BUILD_USER")
    }
  }

  func jobURL(_ value: (String) -> String?) -> String? {
    switch self {
    case .gitHub: joined(["GITHUB_SERVER_URL", "GITHUB_REPOSITORY"], value, "actions/runs", "GITHUB_RUN_ID")
    case .gitLab: value("CI_JOB_URL")
    case .circle: value("CIRCLE_BUILD_URL")
    case .azure:
      joined(["SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT"], value, "_build/results?buildId=", "BUILD_BUILDID")
    case .bitbucket: joined(["BITBUCKET_GIT_HTTP_ORIGIN"], value, "pipelines/results", "BITBUCKET_BUILD_NUMBER")
    case .buildkite: value("BUILDKITE_BUILD_URL")
    case .teamCity: value("BUILD_URL")
    case .jenkins: value("BUILD_URL")
    }
  }

  func commit(_ value: (String) -> String?) -> String? {
    switch self {
    case .gitHub: value("GITHUB_SHA")
    case .gitLab: value("CI_COMMIT_SHA")
    case .circle: value("CIRCLE_SHA1")
    case .azure: value("BUILD_SOURCEVERSION")
    case .bitbucket: value("BITBUCKET_COMMIT")
    case .buildkite: value("BUILDKITE_COMMIT")
    case .teamCity: value("BUILD_VCS_NUMBER")
    case .jenkins: value("GIT_COMMIT")
    }
  }

  /// Joins a base URL from variables with a fixed part and a number; `nil` if a variable is missing.
  private func joined(_ base: [String], _ value: (String) -> String?, _ part: String, _ number: String) -> String? {
    let parts = base.compactMap(value).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    guard parts.count == base.count, let number = value(number) else { return nil }
    return parts.joined(separator: "/") + "/\(part)\(part.hasSuffix("=") ? "" : "/")\(number)"
  }
}
