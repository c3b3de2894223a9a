/** The notice's group: all notices of one instance of an account. */
export function groupOf(id: string): string {
  return id.split('/').slice(0, 2).join('/')
}

/** The id in Windows's activation arguments, `type=click&tag=…`; undefined without one. */
export function activatedId(text: string): string | undefined {
  return new URLSearchParams(text).get('tag') || undefined
}
