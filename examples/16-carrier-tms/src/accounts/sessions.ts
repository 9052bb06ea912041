/** The TMS's own login: users, passwords, and sessions behind a cookie. */
import { and, eq, gt, lt, sql } from "drizzle-orm"
import { createHash, randomBytes } from "node:crypto"
import type { Database } from "../database/connect.ts"
import { accounts, customers, sessions, users } from "../database/schema.ts"
import { hashPassword, isPassword } from "./passwords.ts"

export interface User {
  readonly id: number
  readonly name: string
  /** The company of a customer's user, with the account numbers that it has now; `undefined` for dispatchers. */
  readonly customer: { readonly id: string; readonly name: string; readonly accounts: ReadonlyArray<string> } | undefined
}

const sessionMillis = 12 * 3_600_000
/** After so many wrong passwords in a row, the user has to wait. */
const attempts = 5
const lockMillis = 60_000

const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64url")

/** Takes as long as a wrong password, so that nobody learns which addresses have a user. */
const nobody = hashPassword(randomBytes(16).toString("base64url"))

/** @returns the token of a new session; `undefined` if the password is wrong or the user has to wait */
export const logIn = async (database: Database, { email, password }: { readonly email: string; readonly password: string }, now: Date): Promise<string | undefined> => {
  // counted before the check, in one statement, so that concurrent guesses are counted too
  const [user] = await database.update(users)
    .set({
      failedLogins: sql`${users.failedLogins} + 1`,
      lockedUntil: sql`CASE WHEN ${users.failedLogins} + 1 >= ${attempts} THEN ${new Date(now.getTime() + lockMillis)}::timestamptz ELSE ${users.lockedUntil} END`
    })
    .where(and(eq(users.email, email.trim().toLowerCase()), sql`coalesce(${users.lockedUntil}, '-infinity') <= ${now}::timestamptz`))
    .returning()
  const isRight = await isPassword(password, user?.passwordHash ?? await nobody)
  if (user === undefined || !isRight) return undefined
  const token = randomBytes(32).toString("base64url")
  await database.transaction(async (tx) => {
    await tx.update(users).set({ failedLogins: 0, lockedUntil: null }).where(eq(users.id, user.id))
    await tx.delete(sessions).where(lt(sessions.expiresAt, now))
    await tx.insert(sessions).values({ tokenHash: hashOf(token), userId: user.id, expiresAt: new Date(now.getTime() + sessionMillis) })
  })
  return token
}

export const logOut = async (database: Database, token: string): Promise<void> => {
  await database.delete(sessions).where(eq(sessions.tokenHash, hashOf(token)))
}

/** The user of a session that has not ended. */
export const userOf = async (database: Database, token: string, now: Date): Promise<User | undefined> => {
  const rows = await database.select({ id: users.id, name: users.name, role: users.role, customerId: customers.id, customerName: customers.name, account: accounts.number })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(customers, eq(customers.id, users.customerId))
    .leftJoin(accounts, eq(accounts.customerId, customers.id))
    .where(and(eq(sessions.tokenHash, hashOf(token)), gt(sessions.expiresAt, now)))
  const [first] = rows
  if (first === undefined) return undefined
  const { customerId, customerName, id, name, role } = first
  if (role === "dispatcher") return { id, name, customer: undefined }
  // a customer's user without a company sees nothing, and is no dispatcher
  if (customerId === null || customerName === null) return undefined
  return { id, name, customer: { id: customerId, name: customerName, accounts: rows.flatMap(({ account }) => account === null ? [] : [account]) } }
}
