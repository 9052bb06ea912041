import { PortalClient } from "@waybill/client/portal"
import { verifyDelivery, signDelivery, TransitEventsClient } from "@waybill/client"
import { existsSync, readFileSync, statSync, writeFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { directory } from "../program/Program.ts"
import { jsonLines, newSecret, run, runningServer, runProcess } from "./Cli.ts"

describe("tenants on the command line", { timeout: 60_000 }, () => {
  it("creates one, changes it, and lists all, without --tenant", async () => {
    const server = await runningServer()
    const { WAYBILL_TENANT: _tenant, ...env } = server.env
    const made = await run(["tenants", "put", "broker-1", "--name", "Broker \u202eOne", "--host", "Track.Broker.example", "--host", "b.example"], { env })
    expect(made).toEqual({ code: 0, stdout: "broker-1 is Broker \\u202eOne, looked up at Track.Broker.example, b.example.\n", stderr: "" })
    const listed = await run(["tenants", "list"], { env })
    expect(listed).toMatchObject({ code: 0, stderr: "" })
    expect(listed.stdout.split("\n")).toEqual([expect.stringMatching(/^acme +Acme Freight +active$/), expect.stringMatching(/^broker-1  Broker \\u202eOne  active  track\.broker\.example b\.example$/), ""])
    const changed = await run(["tenants", "put", "broker-1", "--name", "Broker", "--json"], { env })
    expect([changed.code, ...jsonLines(changed.stdout)]).toEqual([0, { tenantId: "broker-1", name: "Broker", hosts: [] }])
    expect(jsonLines((await run(["tenants", "list", "--json"], { env })).stdout)).toEqual([
      { tenantId: "acme", name: "Acme Freight", hosts: [], state: "active" },
      { tenantId: "broker-1", name: "Broker", hosts: [], state: "active" }
    ])
  })

  it("reports errors, with an exit code for those of the server", async () => {
    const server = await runningServer()
    expect((await run(["tenants", "put", "acme"], { env: server.env })).code).toBe(2)
    expect((await run(["tenants", "list"])).code).toBe(2)
    const refused = await run(["tenants", "put", "no.dots", "--name", "x"], { env: server.env })
    expect(refused).toMatchObject({ code: 4, stdout: "" })
    expect(refused.stderr).toContain("tenantId")
    const host = await run(["tenants", "put", "acme", "--name", "Acme", "--host", "https://a.example"], { env: server.env })
    expect([host.code, host.stderr.includes("host name")]).toEqual([4, true])
    expect((await run(["tenants", "list", "--key", "wrong"], { env: server.env })).code).toBe(4)
    expect((await run(["tenants", "list", "--url", "http://127.0.0.1:1"], { env: server.env })).code).toBe(3)
  })
})

describe("limits on the command line", { timeout: 60_000 }, () => {
  it("shows every quota, changes some, and resets them to their defaults", async () => {
    const { env } = await runningServer()
    const shown = await run(["limits", "get", "--json"], { env })
    expect(jsonLines(shown.stdout)).toMatchObject([{ subscriptions: 200_000, uploadsPerClient: 8 }])
    const changed = await run(["limits", "set", "uploadsPerClient=2", "waitingDays=30"], { env })
    expect(changed).toMatchObject({ code: 0, stderr: "" })
    expect(changed.stdout).toMatch(/^uploadsPerClient +2 +default 8$/m)
    const returned = await run(["limits", "set", "uploadsPerClient=default", "--json"], { env })
    expect(jsonLines(returned.stdout)).toMatchObject([{ uploadsPerClient: 8, waitingDays: 30 }])
    for (const wrong of ["uploads=2", "uploadsPerClient", "uploadsPerClient=many", "uploadsPerClient=2=3"]) expect((await run(["limits", "set", wrong], { env })).code).toBe(2)
    expect((await run(["limits", "set", "waitingDays=0"], { env })).code).toBe(4)
    expect((await run(["limits", "set", "waitingDays=3", "waitingDays=4"], { env }))).toEqual({ code: 2, stdout: "", stderr: "waybill: Give waitingDays once.\n" })
  })
})

describe("keys on the command line", { timeout: 60_000 }, () => {
  it("creates one into a file that only its owner can read, and revokes it", async () => {
    const server = await runningServer()
    const out = join(directory(), "key")
    const made = await run(["keys", "create", "broker", "--role", "customer", "--account", "A-1", "--out", out, "--json"], { env: server.env })
    expect(made).toMatchObject({ code: 0, stderr: "" })
    const key = readFileSync(out, "utf8").trim()
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const [{ id }] = jsonLines(made.stdout) as [{ id: string }]
    expect(made.stdout).not.toContain(key)
    const calls = () => new TransitEventsClient({ baseUrl: server.url, apiKey: key }).listEvents()
    await expect(calls()).resolves.toMatchObject({ data: [] })
    const revoked = await run(["keys", "revoke", id], { env: server.env })
    expect(revoked).toEqual({ code: 0, stdout: `Key ${id} no longer works, on any node.\n`, stderr: "" })
    await expect(calls()).rejects.toMatchObject({ status: 401 })
    expect((await run(["keys", "revoke", id], { env: server.env })).code).toBe(4)
  })

  it("creates one that expires after a period, or at an instant", async () => {
    const { env, operator } = await runningServer()
    for (const [name, expires] of [["days", "3d"], ["instant", "2099-01-01T00:00:00+01:00"]] as const) {
      expect(await run(["keys", "create", name, "--role", "carrier", "--expires", expires, "--show"], { env })).toMatchObject({ code: 0, stderr: "" })
    }
    const keys = (await operator.listApiKeys("acme")).data
    const [days, instant] = ["days", "instant"].map((each) => keys.find(({ name }) => name === each)!)
    expect(Date.parse(days!.expiresAt!) - Date.parse(days!.createdAt)).toBeCloseTo(3 * 86_400_000, -5)
    expect(instant!.expiresAt).toBe("2098-12-31T23:00:00.000Z")
    const { code, stderr } = await run(["keys", "create", "tms", "--role", "carrier", "--expires", "tomorrow", "--show"], { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining("Expected: 12h or 90d for so long from now, or an instant")])
  })

  it("prints one only with --show, and creates none that would be lost", async () => {
    const server = await runningServer()
    const nowhere = await run(["keys", "create", "tms", "--role", "carrier"], { env: server.env })
    expect(nowhere).toMatchObject({ code: 2, stdout: "" })
    expect(nowhere.stderr).toContain("--out <file>")
    const shown = await run(["keys", "create", "tms", "--role", "carrier", "--show", "--json"], { env: server.env })
    expect(jsonLines(shown.stdout)).toEqual([{ id: expect.any(String), name: "tms", key: expect.stringMatching(/^wb\./) }])
    expect((await run(["keys", "create", "broker", "--role", "customer", "--show"], { env: server.env })).code).toBe(2)
    const limited = await run(["keys", "create", "tms", "--role", "carrier", "--account", "A-1", "--show"], { env: server.env })
    expect(limited).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("Give --role customer, beside --role carrier if the carrier receives freight charges of the account, or leave --account out.") })
    expect((await run(["keys", "create", "fleet", "--role", "carrier", "--role", "customer", "--account", "A-1", "--show"], { env: server.env })).code).toBe(0)
    const numbered = await run(["keys", "create", "broker", "--role", "customer", "--account", "A-1", "--dot", "77", "--show"], { env: server.env })
    expect(numbered).toEqual({ code: 4, stdout: "", stderr: expect.stringContaining("Add the role carrier, or leave the number out.") })
    const out = join(directory(), "key")
    writeFileSync(out, "precious")
    expect((await run(["keys", "create", "tms", "--role", "carrier", "--out", out], { env: server.env })).code).toBe(2)
    expect(readFileSync(out, "utf8")).toBe("precious")
    const fresh = join(directory(), "key")
    expect((await run(["keys", "create", "tms", "--role", "carrier", "--out", fresh, "--key", "wrong"], { env: server.env })).code).toBe(4)
    expect(existsSync(fresh)).toBe(false)
  })

  it("takes the key of a server on this machine from its data directory, and sends it to no other machine", async () => {
    const server = await runningServer()
    const dir = directory()
    mkdirSync(join(dir, ".waybill"))
    writeFileSync(join(dir, ".waybill/operator-key"), `${server.operatorKey}\n`)
    expect(await runProcess(["deliveries", "--tenant", "acme", "--url", server.url], { cwd: dir })).toMatchObject({ code: 0 })
    for (const other of ["https://freight.example", "http://127.0.0.1.freight.example", "http://localhost.freight.example"]) {
      expect((await runProcess(["deliveries", "--tenant", "acme", "--url", other], { cwd: dir })).code).toBe(2)
    }
  })

  it("says that the file with the operator key cannot be read", async () => {
    const { url } = await runningServer()
    const { code, stderr } = await run(["deliveries", "--tenant", "acme", "--url", url], { env: { WAYBILL_OPERATOR_KEY_FILE: "/nowhere/operator-key" } })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^waybill: The file of WAYBILL_OPERATOR_KEY_FILE cannot be read: ENOENT/)])
  })

  it("says that keys of a file must be in one line, before it calls", async () => {
    const file = join(directory(), "operator-keys")
    writeFileSync(file, `ops:${"k".repeat(24)}\nci:${"c".repeat(24)}\n`)
    const { code, stderr } = await run(["tenants", "list", "--url", "http://127.0.0.1:1"], { env: { WAYBILL_OPERATOR_KEY_FILE: file } })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^waybill: The operator key has several lines\. Write all keys in one line, separated by commas\./)])
    expect(stderr).not.toContain("kkkk")
  })

  it("takes the first of several operator keys that may write", async () => {
    const { env, operatorKey } = await runningServer()
    const several = `ci:read:0123456789abcdef01234567,ops:${operatorKey}`
    expect(await run(["tenants", "list"], { env: { ...env, WAYBILL_OPERATOR_KEY: several } })).toMatchObject({ code: 0, stderr: "" })
  })
})

describe("portal links on the command line", { timeout: 60_000 }, () => {
  it("are created for a client, with its theme, into a file or printed", async () => {
    const server = await runningServer()
    expect((await run(["keys", "create", "shipper", "--role", "customer", "--account", "A-1", "--show"], { env: server.env })).code).toBe(0)
    const out = join(directory(), "link")
    const made = await run(["portal", "link", "shipper", "--out", out, "--expires-seconds", "600", "--theme", '{"name":"Acme"}'], { env: server.env })
    expect(made).toMatchObject({ code: 0, stderr: "" })
    expect(made.stdout).toMatch(/^The token opens the portal of key:shipper until \S+Z\. It is in /)
    // this server has no page, so there is no address
    expect(made.stdout).toMatch(/set WAYBILL_PUBLIC_URL, .* to get a link\.$/m)
    const token = readFileSync(out, "utf8").trim()
    globalThis.waybillTestOutput?.secret(token)
    expect(await new PortalClient({ baseUrl: server.url, bearer: token }).session()).toMatchObject({ client: "key:shipper", theme: { name: "Acme" } })
    const shown = await run(["portal", "link", "shipper", "--show", "--json"], { env: server.env })
    expect(jsonLines(shown.stdout)).toEqual([{ client: "key:shipper", expiresAt: expect.any(String), url: null, token: expect.any(String) }])
  })

  it("are not created if they would be lost, or for a theme or a time that the server refuses", async () => {
    const server = await runningServer()
    expect(await run(["portal", "link", "shipper"], { env: server.env })).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--out <file>") })
    expect((await run(["portal", "link", "shipper", "--show", "--theme", "red"], { env: server.env })).code).toBe(2)
    expect((await run(["portal", "link", "shipper", "--show", "--expires-seconds", "5"], { env: server.env })).code).toBe(4)
    expect((await run(["portal", "link", "nobody", "--show"], { env: server.env })).code).toBe(4)
  })
})

describe("clients on the command line", { timeout: 60_000 }, () => {
  it("lists them with their keys and subscriptions, and deletes one", async () => {
    const { customer, env, operator } = await runningServer()
    await operator.createApiKey("acme", { name: "tms", roles: ["carrier"] })
    await customer.createSubscription({ endpointUrl: "https://127.0.0.1:1/hook", hmacSecretId: "main" })
    const listed = await run(["clients", "list"], { env })
    expect(listed.stdout.split("\n")).toEqual([
      expect.stringMatching(/^key:shipper +live +customer +1 key +1 subscription +(?:never seen|seen \S+Z)$/),
      expect.stringMatching(/^key:tms +live +carrier +2 keys +0 subscriptions +(?:never seen|seen \S+Z)$/),
      ""
    ])
    const deleted = await run(["clients", "delete", "shipper"], { env })
    expect(deleted).toEqual({ code: 0, stdout: "shipper has no key and no subscription any more.\n", stderr: "" })
    await expect(customer.listEvents()).rejects.toMatchObject({ status: 401 })
    expect((await operator.listSubscriptions("acme")).data).toEqual([])
  })
})

describe("the audit log on the command line", { timeout: 60_000 }, () => {
  it("is shown newest first, by tenant and by actor, and contains no key", async () => {
    const { customerKey, env, operator, operatorKey } = await runningServer()
    await operator.putTenant("other", { name: "Other" })
    const shown = await run(["audit", "--tenant", "acme"], { env })
    expect(shown).toMatchObject({ code: 0, stderr: "" })
    const lines = shown.stdout.trimEnd().split("\n")
    expect(lines.map((line) => line.split(/ {2,}/).slice(3))).toEqual([
      ["secret.put", "acme", "secret main", "200"],
      ["api-key.create", "acme", expect.stringMatching(/^api-key \S+$/), "201"],
      ["api-key.create", "acme", expect.stringMatching(/^api-key \S+$/), "201"],
      ["tenant.put", "acme", "tenant acme", "200"]
    ])
    expect(lines[0]).toMatch(/^\S+Z {2}operator operator {2}127\.0\.0\.1 {2}/)
    for (const key of [customerKey, operatorKey]) expect(shown.stdout).not.toContain(key)
    const newest = await run(["audit", "--actor", "operator", "--limit", "1", "--json"], { env })
    expect(jsonLines(newest.stdout)).toMatchObject([{ action: "tenant.put", tenantId: "other", result: "ok" }])
    expect(await run(["audit", "--actor", "nobody"], { env })).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("No entry.") })
  })
})

describe("secrets on the command line", { timeout: 60_000 }, () => {
  it("rotates none that does not exist, also with an owner", async () => {
    const { env, operator } = await runningServer()
    const { code, stderr } = await run(["secrets", "rotate", "mian", "--client", "shipper", "--show"], { env })
    expect([code, stderr]).toEqual([4, "waybill: No secret mian in this tenant. waybill secrets list shows all; waybill secrets put registers a new one.\n"])
    expect((await operator.listSecrets("acme")).data.map(({ hmacSecretId }) => hmacSecretId)).toEqual(["main"])
  })

  it("registers a given one, and rotates it", async () => {
    const server = await runningServer()
    const dir = directory()
    const own = newSecret()
    writeFileSync(join(dir, "own"), `${own}\n`)
    const put = await run(["secrets", "put", "client:shipper", "--secret-file", join(dir, "own")], { env: server.env })
    expect(put).toEqual({ code: 0, stdout: "client:shipper signs from now on.\n", stderr: "" })
    const shown = await run(["secrets", "put", "client:shipper", "--show", "--json"], { env: server.env })
    const [{ secret: made }] = jsonLines(shown.stdout) as [{ secret: string }]
    expect(made).toMatch(/^whsec_/)
    expect(made).not.toBe(own)
    const out = join(dir, "rotated")
    const rotated = await run(["secrets", "rotate", "client:shipper", "--overlap-seconds", "60", "--out", out], { env: server.env })
    expect(rotated).toEqual({ code: 0, stdout: `client:shipper signs from now on. It is in ${out}.\n`, stderr: "" })
    const rotatedSecret = readFileSync(out, "utf8").trim()
    const body = new TextEncoder().encode("{}")
    await verifyDelivery({ secrets: rotatedSecret, headers: (await signDelivery({ secrets: rotatedSecret, deliveryId: "a", body })).headers, body })
    const piped = await runProcess(["secrets", "put", "other", "--client", "shipper", "--secret-file", "-"], { env: server.env, input: `${newSecret()}\n` })
    expect(piped.code).toBe(0)
  })

  it("lists them with their owners, and changes only the owner of one", async () => {
    const server = await runningServer()
    const env = server.env
    const made = await run(["secrets", "put", "ours", "--client", "shipper", "--show", "--json"], { env })
    const [{ secret }] = jsonLines(made.stdout) as [{ secret: string }]
    const changed = await run(["secrets", "put", "ours", "--account", "A-1", "--account", "A-2", "--no-rotate"], { env })
    expect(changed).toEqual({ code: 0, stdout: "ours is changed. The secret is the same as before.\n", stderr: "" })
    const listed = await run(["secrets", "list"], { env })
    expect(listed.stdout).toMatch(/^SECRET +OWNER +SINCE +OLDER SIGN UNTIL +USED BY$/m)
    expect(listed.stdout).toMatch(/^ours +accounts A-1, A-2 +\S+Z +0$/m)
    expect(listed.stdout).not.toContain(secret.slice(6))
  })

  it("deletes one that is not in use", async () => {
    const { env } = await runningServer()
    expect((await run(["secrets", "put", "client:gone", "--show"], { env })).code).toBe(0)
    expect(await run(["secrets", "delete", "client:gone"], { env })).toEqual({ code: 0, stdout: "client:gone is deleted.\n", stderr: "" })
    expect((await run(["secrets", "delete", "client:gone"], { env })).code).toBe(4)
  })

  it("requires an owner, and generates no secret when it only changes the owner", async () => {
    const { env } = await runningServer()
    expect((await run(["secrets", "put", "owned-by-nobody", "--show"], { env })).code).toBe(4)
    for (const misplaced of [["--show"], ["--overlap-seconds", "60"]]) expect((await run(["secrets", "put", "main", "--any-client", "--no-rotate", ...misplaced], { env })).code).toBe(2)
  })

  it("says each fault once", async () => {
    const { env, url } = await runningServer()
    const two = await run(["secrets", "put", "a", "--client", "a", "--any-client", "--show"], { env })
    expect(two).toEqual({
      code: 4,
      stdout: "",
      stderr: `waybill: PUT ${url}/operator/v1/tenants/acme/secrets/a answered 400: anyClient: A secret has one owner: name exactly one of client, accounts or anyClient: true.\n`
    })
    const edited = await run(["subscriptions", "edit", "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10", "--rate-per-minute", "0"], { env })
    expect(edited.stderr.match(/an integer from 1/g)?.length ?? 0).toBeLessThan(2)
  })

  it("generates none that would be lost, and accepts one at a time", async () => {
    const server = await runningServer()
    expect((await run(["secrets", "rotate", "main"], { env: server.env })).code).toBe(2)
    expect((await run(["secrets", "put", "main"], { env: server.env })).code).toBe(2)
    const two = await run(["secrets", "put", "main"], { env: { ...server.env, WAYBILL_WEBHOOK_SECRET: `${newSecret()},${newSecret()}` } })
    expect(two.code).toBe(2)
    const bad = await run(["secrets", "put", "main"], { env: { ...server.env, WAYBILL_WEBHOOK_SECRET: "whsec_short" } })
    expect(bad.code).toBe(4)
    expect(bad.stderr).not.toContain("whsec_short")
  })
})
