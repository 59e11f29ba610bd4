#if Hosting
  import GRDB

  /// A filtered and sorted list of ids of one table.
  struct ResourceList: Sendable {
    /// A condition in SQL with its arguments.
    struct Condition: Sendable {
      let sql: String
      let arguments: [String]

      init(_ sql: String, _ arguments: String...) { (self.sql, self.arguments) = (sql, arguments) }

      /// One of the values.
      init(_ expression: String, in values: [String]) {
        sql = "\(expression) IN (\(Array(repeating: "?", count: values.count).joined(separator: ", ")))"
        arguments = values
      }

      /// A condition whose SQL ends with a list, inside of a larger expression such as a subquery.
      init(_ prefix: String, in values: [String], _ suffix: String) {
        let list = Condition(prefix, in: values)
        (sql, arguments) = (list.sql + suffix, values)
      }
    }

    private let table: String
    private let conditions: [Condition]

    /// The column of the sort key. Equal keys are sorted by id.
    private let sort: String
    private let isDescending: Bool

    init(_ table: String, _ conditions: [Condition], sort: String = "createdDate", isDescending: Bool = false) {
      (self.table, self.conditions, self.sort, self.isDescending) = (table, conditions, sort, isDescending)
    }

    private var filter: String {
      conditions.isEmpty ? "1" : conditions.map { "(\($0.sql))" }.joined(separator: " AND ")
    }

    private var arguments: StatementArguments { StatementArguments(conditions.flatMap(\.arguments)) }

    /// Returns the first rows after a cursor: at most one more than the limit, which shows that another page exists.
    func rows(after cursor: Cursor?, limit: Int, in database: Database) throws -> [Cursor] {
      let order = isDescending ? "DESC" : "ASC"
      var sql = "SELECT id, \(sort) AS sortKey FROM \(table) WHERE \(filter)", arguments = self.arguments
      if let cursor {
        sql += " AND (\(sort), id) \(isDescending ? "<" : ">") (?, ?)"
        switch cursor.key {
        case .integer(let number): arguments += [number]
        case .text(let text): arguments += [text]
        }
        arguments += [cursor.id]
      }
      sql += " ORDER BY \(sort) \(order), id \(order) LIMIT ?"
      arguments += [limit + 1]
      return try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in
        let value: DatabaseValue = row["sortKey"]
        let key: Cursor.Key =
          if let number = Int64.fromDatabaseValue(value), case .int64 = value.storage { .integer(number) } else {
            .text(String.fromDatabaseValue(value) ?? "")
          }
        return Cursor(key, row["id"])
      }
    }

    func count(in database: Database) throws -> Int64 {
      try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(table) WHERE \(filter)", arguments: arguments) ?? 0
    }

    /// The review submissions of an app; beta submissions have a type of their own.
    static func submissions(ofApp id: String, _ more: [Condition] = []) -> ResourceList {
      .init("submission", [.init("appID = ?", id), .init("context = ?", ReleaseContext.store.rawValue)] + more)
    }
  }
#endif
