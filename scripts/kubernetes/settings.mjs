// Gives the environment of each pod to the server's own reader of settings.
import { ConfigProvider, Effect } from "effect"
import { readServerConfig } from "../../packages/server/src/config/ServerConfig.ts"
import { variableNames } from "../../packages/server/src/config/Variables.ts"

/** What stands for the files of the Secret, which is not here. */
const contents = {
  WAYBILL_DATABASE_URL: "postgres://waybill:password@database/waybill",
  WAYBILL_READ_DATABASE_URL: "postgres://waybill:password@standby/waybill",
  WAYBILL_OPERATOR_KEY: "an-operator-key-of-24-characters",
  WAYBILL_SEALING_KEY: Buffer.alloc(32).toString("base64"),
  WAYBILL_SMTP_URL: "smtps://mail.example"
}

/** @returns {Promise<string[]>} */
export async function settingFaults(objects) {
  const faults = []
  const pods = objects.flatMap(({ kind, metadata, spec }) =>
    kind === "Pod" ? [{ name: metadata.name, spec }] : ["Deployment", "Job"].includes(kind) ? [{ name: metadata.name, spec: spec.template.spec }] : [])
  for (const { name, spec } of pods) {
    const environment = environmentOf(spec.containers[0], objects)
    const unknown = Object.keys(environment).filter((each) => each.startsWith("WAYBILL_") && !variableNames.includes(each))
    if (unknown.length > 0) faults.push(`${name} sets ${unknown.join(", ")}, which the server does not know`)
    const given = withContents(environment)
    const config = await Effect.runPromise(Effect.result(readServerConfig({ names: Object.keys(given), isTerminal: false, directory: "/srv" }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(given))
    )))
    if (config._tag === "Failure") faults.push(`the server does not start with the settings of ${name}: ${config.failure.message}`)
    else if (spec.terminationGracePeriodSeconds !== undefined) {
      const seconds = (config.success.drainDelayMillis + config.success.delivery.drainMillis) / 1000
      if (spec.terminationGracePeriodSeconds < seconds + 5) faults.push(`${name} is killed after ${spec.terminationGracePeriodSeconds} s, and a stop takes up to ${seconds} s`)
    } else if (spec.restartPolicy !== "Never") faults.push(`${name} has no terminationGracePeriodSeconds`)
  }
  return faults
}

function environmentOf({ env, envFrom = [] }, objects) {
  const maps = envFrom.flatMap(({ configMapRef }) => objects.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === configMapRef?.name))
  return Object.assign({}, ...maps.map(({ data }) => data), Object.fromEntries(env.map(({ name, value = "" }) => [name, value])))
}

function withContents(environment) {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) =>
    name.endsWith("_FILE") ? [name.replace(/_FILE$/, ""), contents[name.replace(/_FILE$/, "")]] : [name, value]))
}
