import { describe, expect, it } from "vitest"
import { contrast, logoOf, styleOf, textOn } from "../../../dashboard/portal/theme.ts"

describe("styleOf", () => {
  it("sets nothing without a theme", () => expect(styleOf({})).toEqual({ scheme: undefined, variables: {}, classes: [] }))

  it("chooses the text on an accent, and the scheme of a background, so that both can be read", () => {
    expect(styleOf({ accent: "#ffdd00", background: "#101418", radius: 0 })).toEqual({
      scheme: "dark",
      variables: {
        "--portal-accent": "#ffdd00", "--portal-accent-text": "#000000", "--portal-link": "#ffdd00",
        "--portal-background": "#101418", "--portal-text": "#ffffff", "--portal-radius": "0px"
      },
      classes: ["themed-accent", "themed-background", "themed-link"]
    })
    expect(styleOf({ background: "#ffffff", text: "#eeeeee", accent: "#fff000" }).variables).toMatchObject({ "--portal-text": "#000000", "--portal-link": "#000000" })
  })

  it("leaves out what is no color or number, even if a server sent it", () => {
    const theme = { accent: "red;background:url(https://evil.example)", background: "#fff", text: "</style>", radius: "1px;x" } as never
    expect(styleOf(theme)).toEqual({ scheme: undefined, variables: {}, classes: [] })
    expect(logoOf({ logoUrl: "javascript:alert(1)" })).toBeUndefined()
    expect(logoOf({ logoUrl: "https://cdn.example/logo.svg" })).toBe("https://cdn.example/logo.svg")
  })
})

describe("contrast", () => {
  it("is 21 between black and white, and black is better to read on yellow", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21)
    expect([textOn("#ffff00"), textOn("#0b3d91")]).toEqual(["#000000", "#ffffff"])
  })
})
