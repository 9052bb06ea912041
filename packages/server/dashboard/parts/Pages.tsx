/** Pagination of a list; the cursor is in the address, so Back returns to the previous page. */
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
