/** Errors of the file system where several processes use a folder. */

/** Such as `ENOENT`. */
export const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

/** Another process was faster, or a folder is created with its first file. */
export const ignoreMissing = (error: unknown): undefined => {
  if (codeOf(error) !== "ENOENT") throw error
  return undefined
}

/** A file cannot be read now. `isGone`: another process was faster. */
export class FileNotRead extends Error {
  readonly _tag = "FileNotRead"
  readonly isGone: boolean

  constructor(message: string, isGone = false) {
    super(message)
    this.isGone = isGone
  }
}
