/** Result of one check of `waybill doctor`. */

export interface Finding {
  /** Name of the check, such as `database`. */
  readonly name: string
  /** `skipped`: an earlier check failed. */
  readonly result: "ok" | "warning" | "failed" | "skipped"
  /** The observation. */
  readonly detail: string
  /** How to fix it. */
  readonly todo?: string
}

export const ok = (name: string, detail: string): Finding => ({ name, result: "ok", detail })
export const warning = (name: string, detail: string, todo: string): Finding => ({ name, result: "warning", detail, todo })
export const broken = (name: string, detail: string, todo: string): Finding => ({ name, result: "failed", detail, todo })
export const skipped = (name: string, detail: string): Finding => ({ name, result: "skipped", detail })
