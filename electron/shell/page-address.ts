/** Where the page lives under Electron: a scheme of its own, so that it is an origin, and no file is one. */
export const pageScheme = 'app'
export const pageOrigin = 'app://berth'
export const pageAddress = `${pageOrigin}/index.html`

/** Whether an address is the page's own. */
export function isPage(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, username, password, port } = new URL(address)
  return protocol === 'app:' && host === 'berth' && username === '' && password === '' && port === ''
}

/** The instance whose details, and nothing else, that address of the page shows. */
export function detailsOf(address: string): string | undefined {
  const [, rest] = isPage(address) ? address.split('?details#/instances/', 2) : []
  return /^(\d+)(?:\/[a-z]+)?$/.exec(rest ?? '')?.[1]
}
