import { IntakeClient, OperatorClient } from "@waybill/client"
import { execFile } from "node:child_process"
import { chmodSync, closeSync, existsSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it, onTestFinished } from "vitest"
import { directory, eventually, leaked, Program, startProgram } from "./Program.ts"

const started = (dataDir: string, more: { readonly uid?: number; readonly gid?: number } = {}) =>
  new Program({ args: [], env: { WAYBILL_PORT: "0", WAYBILL_DATA_DIR: dataDir }, ...more })

const delivered = (program: Program, kind = "") =>
  // after a kill the leases of the process before have to run out: 20 seconds, and 5
  eventually(() => program.stdout.match(new RegExp(`✓ signed ${kind}.*`, "g")) ?? undefined, { seconds: 40, what: () => `a delivery ${kind}:\n${program.output}` })

/** The printed commands, once they are there. */
const commandsOf = (program: Program) =>
  eventually(() => {
    const lines = program.stdout.split("\n").map((line) => line.trim()).filter((line) => line.startsWith("curl "))
    const find = (part: string) => lines.find((line) => line.includes(part))!
    return lines.length === 0 ? undefined : {
      verified: find("/verified"),
      anybody: find("/public"),
      events: find("/events"),
      inFlight: find("/inflight"),
      truck: find("/pickups/"),
      invoices: find("/invoices?"),
      documents: find("/documents/")
    }
  }, { what: () => `commands:\n${program.output}` })

/** Runs a command in a shell. */
const shown = async (curl: string) => JSON.parse((await promisify(execFile)("sh", ["-c", curl])).stdout)

/** The subscriptions with deliveries. */
const subscriptionsSentFor = async (url: string, dataDir: string) => {
  const operator = new OperatorClient({ baseUrl: url, apiKey: readFileSync(join(dataDir, "operator-key"), "utf8").trim() })
  const found = new Set<string>()
  for await (const { subscriptionId } of operator.allDeliveries("demo")) found.add(subscriptionId)
  return found
}

const keptIn = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8"))

const databaseOf = (dataDir: string) => Number(readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0])

const lives = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("the demo on the embedded database", { timeout: 90_000 }, () => {
  it("accepts its orders as the carrier where they wait for a decision", async () => {
    const dataDir = join(directory(), "data")
    const { program, url } = await startProgram({ args: [], env: { WAYBILL_PORT: "0", WAYBILL_DATA_DIR: dataDir, WAYBILL_PICKUPS: "desk" } })
    const { truck } = await commandsOf(program)
    expect(await shown(truck)).toMatchObject({ pickupConfirmationId: expect.toSatisfy((id: number) => Math.floor(id / 100) === 1_000_000) })
    const { data } = await new IntakeClient({ baseUrl: url, apiKey: keptIn(dataDir).carrierKey }).listPickupChanges()
    expect(data.map(({ change, status }) => `${change} ${status}`)).toEqual(expect.arrayContaining(["ordered Call us", "decided Accepted"]))
  })

  it("shows each area by a printed command, and delivers the events of each", async () => {
    const dataDir = join(directory(), "data")
    const program = started(dataDir)
    const url = await program.ready()
    const commands = await commandsOf(program)
    // the demo's calls have their own lines, or the printed commands would leave the terminal
    expect(program.log.filter(({ client }) => client !== undefined)).toEqual([])
    expect(program.stdout).toContain(url)
    const shipment = await shown(commands.verified)
    expect(shipment).toMatchObject({ BillToAccountNumber: "DEMO-SHIPPER", ReferenceNumbers: { bolNumber: `BOL${shipment.ProNumber}` } })
    const anybody = await shown(commands.anybody)
    expect(Object.keys(anybody).sort()).toEqual(["EstimatedStandardDay", "ProNumber", "ShipmentMilestoneStatus", "UpdatedETA"])
    expect(anybody.ProNumber).toBe(shipment.ProNumber)
    expect((await shown(commands.events)).data).toHaveLength(3)
    expect((await shown(commands.inFlight)).map((bill: any) => bill.pfc.header.function)).toEqual(["PFC1", "PFC1"])
    expect(await shown(commands.truck)).toMatchObject({
      pickupConfirmationId: 100_000_006,
      status: expect.stringMatching(/^(En Route|Arrived|Departed with Exact Match)$/),
      equipmentInformation: { driverName: "Robin" }
    })
    const [invoice] = await shown(commands.invoices)
    const documents = await shown(commands.documents)
    expect(invoice.invoiceHeader.invoiceAmount).toEqual({ currencyCode: "USD", value: expect.stringMatching(/^\d+\.\d\d$/) })
    expect(documents).toMatchObject({ invoiceNumber: invoice.invoiceHeader.invoiceNumber, documents: [{ documentType: "POD" }] })
    const [{ content }] = documents.documents[0].files
    expect(Buffer.from(content, "base64").toString("latin1")).toMatch(/^%PDF-1\.4\n[^]*\(Signed: J\. Doe\)[^]*%%EOF\n$/)

    expect((await delivered(program, "events"))[0]).toContain("PICKUP_SCHEDULED")
    expect((await delivered(program, "status"))[0]).toContain("Picked-up")
    await eventually(() => /✓ signed charge .*PRO \d{10} PFC1 USD \d+\.\d\d, Bill Entry/.test(program.stdout) ? true : undefined)
    await eventually(() => /✓ signed charge .*PRO \d{10} PFC2 USD \d+\.\d\d, Reweigh/.test(program.stdout) ? true : undefined)
    await eventually(async () => (await shown(commands.truck)).status === "Departed with Exact Match" ? true : undefined)
    await eventually(async () => (await shown(commands.verified)).ShipmentMilestoneStatus === "In Transit" ? true : undefined)
    const page = await (await fetch(url)).text()
    for (const text of ["/in-transit/v1", "/invoicing", "/pickup", "/visibility", "/pfc", "openapi/invoices.json", "openapi/pickups.json", shipment.ProNumber]) expect(page).toContain(text)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(program.log.filter(({ level }) => level !== "info")).toEqual([])
  })

  it("continues after a restart and a kill with the same keys and subscriptions, and without duplicates", async () => {
    const dataDir = join(directory(), "data")
    const first = started(dataDir)
    await first.ready()
    const { documents, events, inFlight, invoices } = await commandsOf(first)
    await delivered(first, "charge")
    const page = await shown(events)
    const bills = await shown(inFlight)
    const [invoice] = await shown(invoices)
    const proof = await shown(documents)
    const kept = keptIn(dataDir)
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(existsSync(join(dataDir, "postgres/data/postmaster.pid"))).toBe(false)

    const second = started(dataDir)
    await second.ready()
    await delivered(second)
    await second.kill("SIGKILL")
    const third = started(dataDir)
    const url = await third.ready()
    await delivered(third)
    const commands = await commandsOf(third)
    const idsIn = ({ data }: { readonly data: ReadonlyArray<{ readonly eventId: string }> }) => data.map(({ eventId }) => eventId)
    const ids = idsIn(await shown(commands.events.replace("pageSize=3", "pageSize=500")))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(idsIn(page)))
    expect(await shown(commands.inFlight)).toEqual(bills)
    // No bill, proof of delivery or truck twice.
    const again = (command: string) => command.replace(/http:\/\/[^/]+/, url)
    expect(await shown(again(invoices))).toEqual([invoice])
    expect(await shown(again(documents))).toEqual(proof)
    const trucks = [first, second, third].flatMap(({ stdout }) => stdout.match(/→ pickup +.*/g) ?? [])
    expect(trucks.filter((line) => line.endsWith("En Route"))).toHaveLength(new Set(trucks.map((line) => line.split(":")[0])).size)
    expect(new Set(trucks).size).toBe(trucks.length)
    const { secret, carrierKey, shipperKey, customerKey, subscriptionId, chargeSubscriptionId } = kept
    expect(keptIn(dataDir)).toMatchObject({ secret, carrierKey, shipperKey, customerKey, subscriptionId, chargeSubscriptionId })
    // The first journey is over before it starts, so it has no subscription; on a slow machine another one has started
    // by now.
    const journeys = new Set(ids.map((id) => id.slice(0, "DEMO-20261120-071500000".length)))
    const sentFor = await subscriptionsSentFor(url, dataDir)
    expect([...sentFor]).toEqual(expect.arrayContaining([subscriptionId, kept.statuses.transactionId, chargeSubscriptionId]))
    expect(sentFor.size).toBeLessThanOrEqual(1 + journeys.size)
    expect(await third.kill("SIGINT")).toEqual({ code: 0, signal: null })

    const secrets = [
      ...["operator-key", "sealing-key", "postgres/password"].map((name) => readFileSync(join(dataDir, name), "utf8").trim()),
      kept.secret,
      kept.carrierKey,
      kept.shipperKey
    ]
    const programs = [first, second, third]
    expect(leaked(programs.map(({ output }) => output).join(""), secrets)).toEqual([])
    // The customer's key is printed for people, but never logged.
    expect(leaked(programs.map(({ stderr }) => stderr).join(""), [kept.customerKey])).toEqual([])
  })

  it("refuses a second server on its data directory, leaves no Postgres behind when it is killed, and starts its Postgres again when that is killed", async () => {
    const dataDir = join(directory(), "data")
    const first = started(dataDir)
    await first.ready()
    const second = started(dataDir)
    expect(await second.end()).toEqual({ code: 1, signal: null })
    expect(second.stderr).toContain("Another Waybill runs on the embedded database in")
    expect(second.stderr).toContain("WAYBILL_DATA_DIR")

    const left = databaseOf(dataDir)
    await first.kill("SIGKILL")
    const third = started(dataDir)
    const url = await third.ready()
    await delivered(third)
    await eventually(() => lives(left) ? undefined : true, { what: () => "the end of the first Postgres" })
    const database = databaseOf(dataDir)
    expect(database).not.toBe(left)

    process.kill(database, "SIGKILL")
    await eventually(() => third.log.find(({ message }) => message === "Embedded Postgres exited, restarting."))
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200 && databaseOf(dataDir) !== database ? true : undefined)

    const log = join(dataDir, "postgres/log")
    const logOfKilled = openSync(log, "r")
    onTestFinished(() => closeSync(logOfKilled))
    const settings = join(dataDir, "postgres/data/postgresql.conf")
    renameSync(settings, `${settings}.away`)
    process.kill(databaseOf(dataDir), "SIGKILL")
    const failed = await eventually(() => third.log.find(({ message }) => message === "Embedded Postgres not restarted, retrying every second."))
    expect(failed["cause"]).toMatch(/^The embedded Postgres did not start: .*postgresql\.conf/)
    expect(statSync(log).ino).not.toBe(fstatSync(logOfKilled).ino)
    renameSync(`${settings}.away`, settings)
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200 || undefined)
  })

  it.runIf(process.getuid?.() === 0)("runs as an ordinary user", async () => {
    const id = async (flag: string) => Number((await promisify(execFile)("id", [flag, "nobody"])).stdout)
    const nobody = { uid: await id("-u"), gid: await id("-g") }
    const dataDir = join(directory(nobody), "data")
    for (let round = 1; round <= 2; round++) {
      const program = started(dataDir, nobody)
      await program.ready()
      await delivered(program)
      expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    }
  })

  it.runIf(process.getuid?.() === 0)("finds another directory for its Postgres when root's is not accessible to others", async () => {
    const closed = directory()
    chmodSync(closed, 0o700)
    const dataDir = join(closed, "data")
    const homeFile = join(dataDir, "postgres-home")
    onTestFinished(() => {
      if (existsSync(homeFile)) rmSync(readFileSync(homeFile, "utf8").trim(), { recursive: true, force: true })
    })
    const program = started(dataDir)
    await program.ready()
    const home = readFileSync(homeFile, "utf8").trim()
    expect(home).toMatch(/^\/var\/lib\/waybill\/[0-9a-f]{8}$/)
    const entry = await eventually(() => program.log.find(({ message }) => String(message).includes(home)))
    expect(entry["message"]).toContain("Postgres refuses to run as root")
    await delivered(program)
  })
})
