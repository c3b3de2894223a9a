/** What a notice belongs to: those of one instance of an account stand together. */
export function groupOf(id: string): string {
  return id.split('/').slice(0, 2).join('/')
}

/** The id of the notice in what Windows tells of a click, `type=click&tag=…`; undefined where there is none. */
export function activatedId(text: string): string | undefined {
  return new URLSearchParams(text).get('tag') || undefined
}
