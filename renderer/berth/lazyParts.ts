/** The file of a part of the page is gone, as after an update under a page that stayed open. */
export const notLoaded = {
  code: 'not_loaded',
  message: 'This part of the page couldn’t be loaded.',
  advice: 'Try again, or reload the page. If Berth was updated, restart it.',
}

/**
 * Loads a part of the page that is likely to be needed, half a second after the page is drawn. A failure shows where
 * the part is needed, which loads it again. Returns a function that cancels it.
 */
export function fetchSoon(load: () => Promise<unknown>): () => void {
  const soon = setTimeout(() => load().catch(() => undefined), 500)
  return () => clearTimeout(soon)
}
