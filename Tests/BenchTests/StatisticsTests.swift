import Testing

@testable import packstore_bench

@Suite struct StatisticsTests {
  @Test func medianOfOddAndEvenCounts() {
    #expect(Statistics([3, 1, 2]).median == 2)
    #expect(Statistics([4, 1, 3, 2]).median == 2.5)
    #expect(Statistics([7]).median == 7)
  }

  @Test func quartilesAreInterpolated() {
    let statistics = Statistics([1, 2, 3, 4, 5])
    #expect(statistics.quantile(0) == 1)
    #expect(statistics.quantile(1) == 5)
    #expect(statistics.quantile(0.9) == 4.6)
    #expect(statistics.interquartileRange == 2)
    #expect(Statistics([7]).interquartileRange == 0)
  }

  @Test func oneOutlierMovesNeitherMedianNorSpread() {
    let calm = Statistics([10, 10, 10, 10, 10, 10, 10])
    let disturbed = Statistics([10, 10, 10, 10, 10, 10, 1000])
    #expect(calm.median == disturbed.median)
    #expect(calm.interquartileRange == disturbed.interquartileRange)
  }

  @Test func latencies() throws {
    #expect(Latencies(nanoseconds: []) == nil)
    let latencies = try #require(Latencies(nanoseconds: (0...100).map { UInt32($0) }))
    #expect(abs(latencies.p50 - 50e-9) < 1e-15)
    #expect(abs(latencies.p90 - 90e-9) < 1e-15)
    #expect(abs(latencies.p99 - 99e-9) < 1e-15)
  }

  @Test func quantitiesOfASample() {
    var sample = Sample(Timing(wall: 2, cpu: 3), byteCount: 8, operationCount: 4)
    sample.heldByteCount = 5
    #expect(Quantity.throughput.value(of: sample) == 4)
    #expect(Quantity.timePerOperation.value(of: sample) == 0.5)
    #expect(Quantity.duration.value(of: sample) == 2)
    #expect(Quantity.held.value(of: sample) == 5)
  }
}
