/** The sessionStorage entry that keeps the token for a reload of this tab; other tabs cannot see it. */
const kept = 'berth-token'

/**
 * The browser mode's token. It comes in the address's fragment, which is cleared at once so that it is neither
 * seen nor bookmarked. Undefined when the page was opened without it.
 */
export function takeToken(page: Pick<Window, 'location' | 'history' | 'sessionStorage'>): string | undefined {
  const fragment = page.location.hash.slice(1)
  if (fragment === '' || fragment.startsWith('/')) return page.sessionStorage.getItem(kept) ?? undefined
  page.sessionStorage.setItem(kept, fragment)
  page.history.replaceState(null, '', '#/')
  return fragment
}

/** Deletes the token, once the Berth that it belongs to has ended. */
export function forgetToken(page: Pick<Window, 'sessionStorage'>): void {
  page.sessionStorage.removeItem(kept)
}
