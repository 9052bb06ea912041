/** All calls of all contracts. They are read from the directory, so new ones are included automatically. */
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defaultBasePaths } from "../../src/index.ts"
import type { ContractSpec, EndpointSpec } from "../../src/shared/Contract.ts"

export interface Operation {
  /** Name in its contract; two areas may use the same name. */
  readonly name: string
  /** Area and name. */
  readonly id: string
  readonly contract: ContractSpec
  readonly endpoint: EndpointSpec
  /** Base and path, with placeholders. */
  readonly template: string
}

const src = fileURLToPath(new URL("../../src", import.meta.url))

const isContract = (value: unknown): value is ContractSpec => typeof value === "object" && value !== null && "area" in value && "endpoints" in value

const contractsIn = async (file: string): Promise<ReadonlyArray<ContractSpec>> =>
  Object.values(await import(`${src}/${file}`) as Readonly<Record<string, unknown>>).filter(isContract)

export const contracts: ReadonlyArray<ContractSpec> =
  (await Promise.all(globSync("*/*Contract.ts", { cwd: src }).sort().map(contractsIn))).flat()

const baseOf = ({ area }: ContractSpec): string => {
  const member = area.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const base = (defaultBasePaths as unknown as Readonly<Record<string, string | undefined>>)[member]
  if (base === undefined) throw new Error(`The contract of ${area} has no default base path. Give it one in WaybillHttp.ts.`)
  return base
}

export const operations: ReadonlyArray<Operation> = contracts.flatMap((contract) =>
  Object.entries(contract.endpoints).map(([name, endpoint]) => ({
    name,
    id: `${contract.area}.${name}`,
    contract,
    endpoint,
    template: `${baseOf(contract)}${endpoint.path}`
  })))

/** The names between braces. */
export const placeholdersOf = (template: string): ReadonlyArray<string> => [...template.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!)

export const operationOf = (id: string): Operation => {
  const found = operations.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`No contract has the call ${id}.`)
  return found
}
