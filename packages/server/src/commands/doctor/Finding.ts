/** What the doctor says of one thing. */

export interface Finding {
  /** What was looked at, such as `database`. */
  readonly name: string
  /** `skipped`: something that comes before it does not work. */
  readonly result: "ok" | "warning" | "failed" | "skipped"
  /** What was seen. */
  readonly detail: string
  /** What to do about it. */
  readonly todo?: string
}

export const ok = (name: string, detail: string): Finding => ({ name, result: "ok", detail })
export const warning = (name: string, detail: string, todo: string): Finding => ({ name, result: "warning", detail, todo })
export const broken = (name: string, detail: string, todo: string): Finding => ({ name, result: "failed", detail, todo })
export const skipped = (name: string, detail: string): Finding => ({ name, result: "skipped", detail })
