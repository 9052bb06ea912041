/** From page to page of a list; the address has the cursor, so Back is the way back. */
interface PagesProps {
  readonly next: string | undefined
  readonly first: string | undefined
}

export const Pages = ({ first, next }: PagesProps) =>
  first === undefined && next === undefined ? null : (
    <nav aria-label="Pages" class="pages">
      {first !== undefined && <a href={first}>First page</a>}
      {next !== undefined && <a href={next}>Next page</a>}
    </nav>
  )
