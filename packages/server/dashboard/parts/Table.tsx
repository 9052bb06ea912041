/** A table that becomes cards on narrow screens. Roles are explicit, because the layout of cards removes them. */
import type { ComponentChildren, RefCallback } from "preact"

export interface Column {
  readonly name: string
  /** The column contains numbers. */
  readonly number?: boolean
  /** The content, such as a button, needs no visible heading. */
  readonly bare?: boolean
}

export interface Row {
  readonly id: string
  readonly cells: ReadonlyArray<ComponentChildren>
}

interface TableProps {
  readonly caption: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<Row>
  /** Index of the column that names the row. */
  readonly header?: number
  readonly list?: RefCallback<HTMLElement>
}

export const Table = ({ caption, columns, header = 0, list, rows }: TableProps) => (
  <table role="table" class="rows">
    <caption>{caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ bare, name, number }) => (
          <th key={name} role="columnheader" scope="col" class={number ? "number" : undefined}>
            {bare ? <span class="hidden">{name}</span> : name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup" ref={list ?? null}>
      {rows.map(({ cells, id }) => (
        <tr key={id} role="row">
          {cells.map((cell, n) => {
            const { name, number } = columns[n]!
            const props = { key: name, class: number ? "number" : undefined, "data-label": name }
            return n === header ? <th {...props} role="rowheader" scope="row">{cell}</th> : <td {...props} role="cell">{cell}</td>
          })}
        </tr>
      ))}
    </tbody>
  </table>
)

/** Name-value pairs. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<readonly [string, ComponentChildren]> }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
