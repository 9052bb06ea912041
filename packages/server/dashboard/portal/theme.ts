/** The theme of a portal, as CSS variables that keep text readable. */
import type { PortalTheme } from "@waybill/client/portal"

/** Relative luminance by WCAG, 0 to 1. `color` is like `#0b5fff`. */
export const luminance = (color: string): number => {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast ratio by WCAG, 1 to 21. */
export const contrast = (one: string, other: string): number => {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** The contrast that normal text needs. */
const readable = 4.5

const [black, white] = ["#000000", "#ffffff"]

/** Black or white, whichever is better to read on this color. */
export const textOn = (color: string): string => contrast(color, black) >= contrast(color, white) ? black : white

export interface ThemeStyle {
  /** `undefined`: the system's. */
  readonly scheme: "light" | "dark" | undefined
  readonly variables: Readonly<Record<string, string>>
  readonly classes: ReadonlyArray<string>
}

const color = /^#[0-9a-f]{6}$/i

/** The server has checked a theme; what is no color is left out here all the same. A text that could not be read on its background is replaced. */
export const styleOf = (theme: PortalTheme): ThemeStyle => {
  const valid = (value: string | undefined) => value !== undefined && color.test(value) ? value : undefined
  const accent = valid(theme.accent)
  const given = valid(theme.text)
  const background = valid(theme.background) ?? (given === undefined ? undefined : textOn(given))
  const text = background === undefined ? undefined : given !== undefined && contrast(given, background) >= readable ? given : textOn(background)
  const scheme = background === undefined ? undefined : textOn(background) === black ? "light" : "dark"
  const link = accent !== undefined && background !== undefined && contrast(accent, background) >= readable ? accent : text
  return {
    scheme,
    variables: {
      ...(accent === undefined ? {} : { "--portal-accent": accent, "--portal-accent-text": textOn(accent) }),
      ...(link === undefined ? {} : { "--portal-link": link }),
      ...(background === undefined || text === undefined ? {} : { "--portal-background": background, "--portal-text": text }),
      ...(Number.isInteger(theme.radius) ? { "--portal-radius": `${theme.radius}px` } : {})
    },
    classes: [...(accent === undefined ? [] : ["themed-accent"]), ...(background === undefined ? [] : ["themed-background"]), ...(link === undefined ? [] : ["themed-link"])]
  }
}

/** Sets variables through the style object, which the page's policy allows; it allows no style in text. Replaces the theme of a link that the tab had before. */
export const applyTheme = (theme: PortalTheme): void => {
  const { classes, scheme, variables } = styleOf(theme)
  const root = document.documentElement
  for (const name of ["style", "class", "data-theme"]) root.removeAttribute(name)
  for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value)
  if (scheme !== undefined) root.dataset["theme"] = scheme
  root.classList.add(...classes)
}

/** The address of the logo, if it is one that a page may load. */
export const logoOf = ({ logoUrl }: PortalTheme): string | undefined => logoUrl !== undefined && URL.parse(logoUrl)?.protocol === "https:" ? logoUrl : undefined
