import createDOMPurify from 'dompurify'
import { Marked } from 'marked'
import { isTooMuch } from './readmeWork.ts'

const marked = new Marked({ gfm: true, breaks: false, async: false })
const purify = createDOMPurify(window)

/** A readme may have text, and links to web addresses. Nothing that loads, runs, or styles. */
const allowed = {
  ALLOWED_TAGS: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code'],
    ...['em', 'strong', 'del', 's', 'b', 'i', 'u', 'kbd', 'sub', 'sup', 'a', 'details', 'summary'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'dl', 'dt', 'dd', 'span', 'div'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
}

/**
 * A readme as safe markup. Pictures and films, which would be fetched from elsewhere, become links. Undefined where it
 * must be shown as text: formatting would block the page, or the parser fails.
 */
export function readmeMarkup(text: string): string | undefined {
  if (isTooMuch(text)) return undefined
  let parsed: string
  try {
    parsed = String(marked.parse(text))
  } catch {
    return undefined
  }
  const page = new DOMParser().parseFromString(parsed, 'text/html')
  for (const media of page.querySelectorAll('img, video, audio, source, iframe, embed')) {
    const address = media.getAttribute('src') ?? ''
    const link = page.createElement('a')
    link.setAttribute('href', address)
    link.textContent = `Picture: ${media.getAttribute('alt') || address}`
    // A nested link would break the outer one in two.
    media.replaceWith(media.closest('a') ? (link.textContent ?? '') : link)
  }
  return purify.sanitize(page.body.innerHTML, allowed)
}
