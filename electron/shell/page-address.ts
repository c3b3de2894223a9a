/** The page's address under Electron. Its own scheme makes it an origin, which files do not share. */
export const pageScheme = 'app'
export const pageOrigin = 'app://berth'
export const pageAddress = `${pageOrigin}/index.html`

/** Whether an address is the page's own. */
export function isPage(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, username, password, port } = new URL(address)
  return protocol === 'app:' && host === 'berth' && username === '' && password === '' && port === ''
}

/** The instance's id in the address of a details window; undefined for other addresses. */
export function detailsOf(address: string): string | undefined {
  const [, rest] = isPage(address) ? address.split('?details#/instances/', 2) : []
  return /^(\d+)(?:\/[a-z]+)?$/.exec(rest ?? '')?.[1]
}
