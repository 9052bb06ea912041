/** The OpenAPI document as one HTML page without scripts or external resources, so it works offline under a strict policy. */
import { createHash } from "node:crypto"
import { placesOf, type SecuritySchemesByName } from "../access/SecuritySchemes.ts"
import type { OpenApiDocument, OpenApiOperation } from "./OpenApi.ts"

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0 } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer } summary b { display: inline-block; min-width: 4.5rem; font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
.dim { opacity: .7 }
`

export const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

interface DocsPageOptions {
  /** Address of the document, relative to the page. */
  readonly openApiPath: string
  readonly server: string
}

export const docsPageOf = (document: OpenApiDocument, { openApiPath, server }: DocsPageOptions): string => {
  const { responses, schemas: components, securitySchemes = {} } = document["components"] as DocumentComponents
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(document.info.title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escape(document.info.title)}</h1>
<p class="dim">${escape(document.info.version)} · <a href="${escape(openApiPath)}">OpenAPI 3.1</a></p>
<p>${escape(document.info.description)}</p>
<p>All paths are below <code>${escape(server)}</code>.${credentialsOf(securitySchemes)}</p>
${document.tags.map((tag) => sectionOf(document, tag)).join("\n")}
<h2>Refusals</h2>
${Object.entries(responses).sort(([a], [b]) => a < b ? -1 : 1).map(([name, response]) =>
    `<details id="response-${escape(name)}"><summary>${escape(name)}</summary>${responseOf(name.slice(-3), response)}</details>`).join("\n")}
<h2>Schemas</h2>
${Object.entries(components).sort(([a], [b]) => a < b ? -1 : 1).map(([name, schema]) =>
    `<details id="schema-${escape(name)}"><summary>${escape(name)}</summary>${schemaOf(schema)}</details>`).join("\n")}
</body>
</html>
`
}

interface DocumentComponents {
  readonly schemas: Readonly<Record<string, unknown>>
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly securitySchemes?: SecuritySchemesByName
}

/** Empty if the host authenticates, as the description says. */
const credentialsOf = (schemes: SecuritySchemesByName): string => {
  const places = placesOf(schemes)
  return places.length === 0 ? "" : ` Callers send ${places.map(escape).join(" or ")}.`
}

const sectionOf = (document: OpenApiDocument, tag: OpenApiDocument["tags"][number]): string => {
  const operations = (places: OpenApiDocument["paths"]) =>
    Object.entries(places).flatMap(([path, methods]) =>
      Object.entries(methods).filter(([, operation]) => operation.tags.includes(tag.name)).map(([method, operation]) => ({ path, method, operation }))
    )
  const calls = operations(document.paths).map(({ method, operation, path }) => operationOf(method.toUpperCase(), path, operation))
  const webhooks = operations(document.webhooks ?? {}).map(({ operation, path }) => operationOf("POST", `webhook ${path}`, operation))
  return `<h2>${escape(tag.name)}</h2>\n<p>${escape(tag.description)}</p>\n${[...calls, ...webhooks].join("\n")}`
}

const operationOf = (method: string, path: string, operation: OpenApiOperation): string =>
  `<details id="${escape(operation.operationId)}"><summary><b>${method}</b><code>${escape(path)}</code> ${escape(operation.summary)}</summary>
${operation.description === undefined ? "" : `<p>${escape(operation.description)}</p>`}
${parametersOf(operation)}${operation.requestBody === undefined ? "" : `<p>Body</p>${contentOf(operation.requestBody)}`}
${responsesOf(operation)}</details>`

const parametersOf = (operation: OpenApiOperation): string => {
  const rows = (operation.parameters ?? []).map((parameter) =>
    `<tr><td><code>${escape(parameter["name"])}</code><br><span class="dim">${escape(parameter["in"])}${
      parameter["required"] === true ? ", required" : ""
    }</span></td><td>${escape(parameter["description"])}</td><td>${schemaOf(parameter["schema"])}</td></tr>`
  )
  return rows.length === 0 ? "" : `<table>${rows.join("")}</table>`
}

/** Responses of the call itself, and one line for the refusals that it shares with other calls. */
const responsesOf = ({ responses }: OpenApiOperation): string => {
  const own = Object.entries(responses).filter(([, response]) => response["$ref"] === undefined)
  const shared = Object.entries(responses).filter(([, response]) => response["$ref"] !== undefined)
  const links = shared.map(([status, response]) => `<a href="#response-${escape(nameIn(response))}">${escape(status)}</a>`)
  return own.map(([status, response]) => responseOf(status, response)).join("") + (links.length === 0 ? "" : `<p><span class="dim">Refused with</span> ${links.join(" ")}</p>`)
}

const responseOf = (status: string, response: Readonly<Record<string, unknown>>): string =>
  `<p>${escape(status)} <span class="dim">${escape(response["description"])}</span></p>${contentOf(response)}`

const nameIn = (reference: Readonly<Record<string, unknown>>): string => String(reference["$ref"]).split("/").at(-1)!

const contentOf = (holder: Readonly<Record<string, unknown>>): string =>
  Object.entries(holder["content"] as Readonly<Record<string, { readonly schema: unknown }>> | undefined ?? {})
    .map(([type, { schema }]) => `<p class="dim"><code>${escape(type)}</code></p>${schemaOf(schema)}`).join("")

/** The schema as JSON, with links for its references. */
const schemaOf = (schema: unknown): string =>
  `<pre>${
    escape(JSON.stringify(schema, null, 2)).replaceAll(
      /&quot;#\/components\/schemas\/([A-Za-z0-9._-]+)&quot;/g,
      "<a href=\"#schema-$1\">$1</a>"
    )
  }</pre>`

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

export const escape = (text: unknown): string => String(text).replaceAll(/[&<>"']/g, (character) => entities[character]!)
