/** Passwords as salted hashes of scrypt, which is part of Node. */
import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"

const scrypt = promisify<string, Buffer, number, Buffer>(scryptCallback)
const bytes = 32

export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  return `${salt.toString("base64url")}.${(await scrypt(password.normalize(), salt, bytes)).toString("base64url")}`
}

export const isPassword = async (password: string, hash: string): Promise<boolean> => {
  const [salt = "", expected = ""] = hash.split(".")
  const stored = Buffer.from(expected, "base64url")
  const given = await scrypt(password.normalize(), Buffer.from(salt, "base64url"), bytes)
  return stored.length === given.length && timingSafeEqual(given, stored)
}
