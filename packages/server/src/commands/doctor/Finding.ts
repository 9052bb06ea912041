/** Result of one check of `waybill doctor`. */

export interface Finding {
  /** `skipped`: an earlier check failed. */
  readonly result: "ok" | "warning" | "failed" | "skipped"
  /** The observation. */
  readonly detail: string
  /** How to fix it. */
  readonly todo?: string
}

export const ok = (detail: string): Finding => ({ result: "ok", detail })
export const warning = (detail: string, todo: string): Finding => ({ result: "warning", detail, todo })
export const broken = (detail: string, todo: string): Finding => ({ result: "failed", detail, todo })
export const skipped = (detail: string): Finding => ({ result: "skipped", detail })

/** With the name of the check, such as `database`. */
export type NamedFinding = readonly [name: string, finding: Finding]
