/** Pages deep in the log compared with the first page. */
import { median } from "../measure/Stats.ts"
import { storeEvents } from "../waybill/Fill.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { publisherModule, type Scenario, startMeasured } from "./Bench.ts"

const pageSize = 500

export const paging: Scenario = {
  name: "paging",
  title: "milliseconds for a page of 500 of 1,000,000 events: page 2,000 of a list against page 1",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_paging")
    const reader = await startMeasured<PublisherHandlers>(bench, publisherModule, [database, "waybill"])
    await reader.call.prepare(1, bench.receiver.url)
    const events = bench.quick ? 20_000 : 1_000_000
    const pages = events / pageSize
    const slice = Math.min(events, 100_000)
    for (let from = 0; from < events; from += slice) await storeEvents(database, { from, to: from + slice, perShipment: 5 })
    await bench.postgres.settle(database)
    await reader.call.listPages(Math.min(20, pages), pageSize)
    const listed = await reader.call.listPages(pages, pageSize)
    const firsts: Array<number> = []
    const lasts: Array<number> = []
    // read the pages at both ends again, because one sample is not enough
    for (let round = 0; round < (bench.quick ? 2 : 9); round++) {
      firsts.push(await reader.call.page(1, pageSize))
      await reader.call.pageAt(listed.lastCursor, pageSize, pages)
      lasts.push(await reader.call.pageAt(listed.lastCursor, pageSize, pages))
    }
    const jump = await reader.call.jump(pages, pageSize)
    await reader.end()
    return {
      lines: [
        { label: "page 1 (counts the results)", value: median(firsts), unit: "ms", rounds: firsts },
        { label: "page 2", value: listed.millis[1]!, unit: "ms" },
        { label: `page ${pages}, repeated`, value: median(lasts), unit: "ms", rounds: lasts },
        { label: "last 100 pages, median", value: median(listed.millis.slice(-100)), unit: "ms" },
        { label: `jump to page ${pages}, without earlier pages`, value: jump, unit: "ms" }
      ],
      verdicts: [
        { label: `page ${pages} to page 1`, ratio: median(lasts) / median(firsts), target: 3, better: "lower" },
        { label: "last 100 pages to pages 2 to 101", ratio: median(listed.millis.slice(-100)) / median(listed.millis.slice(1, 101)), target: 3, better: "lower" }
      ]
    }
  }
}
