/** Names of ids in a shared store. */

const longestPlain = 200
const plain = new RegExp(`^[\\x20-\\x7e]{1,${longestPlain}}$`)

/**
 * The id itself if it is short printable ASCII, otherwise its hash: ids come from outside, and Postgres takes neither
 * NUL characters nor index entries of more than 2,704 bytes.
 */
export const seenKeyOf = async (id: string): Promise<string> => {
  if (plain.test(id) && !id.startsWith(hashed)) return id
  // JSON keeps half surrogates apart, which UTF-8 cannot express.
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(id)))
  return hashed + Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

const hashed = "sha256:"
