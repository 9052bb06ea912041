/** `npm run add-user -- dana@prairie.example Dana [customer]`: adds a user, or gives a new password, which is read from standard input. */
import { text } from "node:stream/consumers"
import { hashPassword } from "./accounts/passwords.ts"
import { connect } from "./database/connect.ts"
import { users } from "./database/schema.ts"
import { readSettings } from "./settings.ts"

const [email, name, customerId] = process.argv.slice(2)
const password = (await text(process.stdin)).trim()
if (email === undefined || name === undefined || password.length < 12) {
  throw new Error("Give an e-mail address, a name, the id of a customer unless it is a dispatcher, and a password of 12 characters or more on standard input.")
}
const { database, pool } = connect(readSettings(process.env).databaseUrl)
const passwordHash = await hashPassword(password)
const user = { email: email.toLowerCase(), name, passwordHash, role: customerId === undefined ? "dispatcher" as const : "customer" as const, customerId: customerId ?? null }
await database.insert(users).values(user).onConflictDoUpdate({ target: users.email, set: { ...user, failedLogins: 0, lockedUntil: null } })
await pool.end()
