/** All commands of `waybill`. */
import { Command } from "effect/cli"
import { fileNameOf, type Variable } from "../config/Variable.ts"
import { variables } from "../config/Variables.ts"
import { auditCommand } from "./AuditCommand.ts"
import { checkCommand } from "./check/CheckCommand.ts"
import { deliveriesCommand } from "./DeliveriesCommand.ts"
import { documentsCommand } from "./DocumentsCommand.ts"
import { ediCommand } from "./edi/EdiCommand.ts"
import { explainCommand, healthCommand } from "./ExplainCommands.ts"
import { doctorCommand } from "./doctor/DoctorCommand.ts"
import { keysCommand } from "./KeysCommand.ts"
import { clientsCommand } from "./ClientsCommand.ts"
import { limitsCommand } from "./LimitsCommand.ts"
import { listenCommand } from "./ListenCommand.ts"
import { migrateCommand } from "./MigrateCommand.ts"
import { pickupsCommand } from "./PickupsCommand.ts"
import { portalCommand } from "./PortalCommand.ts"
import { dismissCommand, recoverCommand, replayCommand, retryCommand } from "./ResendCommands.ts"
import { secretsCommand } from "./SecretsCommand.ts"
import { runServe, serveCommand } from "./ServeCommand.ts"
import { simulateCommand } from "./SimulateCommand.ts"
import { statisticsCommand } from "./StatisticsCommand.ts"
import { subscriptionsCommand } from "./SubscriptionsCommand.ts"
import { tailCommand } from "./TailCommand.ts"
import { tenantsCommand } from "./TenantsCommand.ts"
import { verifyCommand } from "./VerifyCommand.ts"

const settings = Object.values<Variable<unknown>>(variables).map(({ fallback, hasFile, meaning, name }) => {
  const orFile = hasFile === true ? `; ${fileNameOf(name)} names a file that contains it` : ""
  return `  ${name}\n      ${meaning}${orFile}; default: ${fallback}`
}).join("\n")

const exits = [
  "  0  success",
  "  1  a check found a problem, a signature is invalid, or something failed",
  "  2  the command line is invalid",
  "  3  no usable answer: no connection, too slow, or an error of the server",
  "  4  the server refused the request"
].join("\n")

const about = "Server and tools for the freight industry's five JSON interfaces"

export const waybill = Command.make("waybill", {}, () => runServe).pipe(
  Command.withDescription(`${about}.\n\nSettings of the server are environment variables:\n\n${settings}\n\nExit codes:\n\n${exits}`),
  Command.withShortDescription(about),
  Command.withSubcommands([
    { group: "The server", commands: [serveCommand, migrateCommand, doctorCommand, documentsCommand] },
    { group: "For operators of a running server", commands: [
      healthCommand, tailCommand, deliveriesCommand, retryCommand, dismissCommand, recoverCommand, replayCommand, subscriptionsCommand, explainCommand, pickupsCommand, statisticsCommand, auditCommand, tenantsCommand, limitsCommand, secretsCommand, keysCommand, clientsCommand, portalCommand
    ] },
    { group: "Receivers and tests", commands: [verifyCommand, listenCommand, simulateCommand, checkCommand, ediCommand] }
  ])
)
