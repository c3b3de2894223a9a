import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the built page, ready to be sent. */
interface BuiltFile {
  bytes: Buffer
  type: string
  /** Names with a hash are cached permanently, as their content never changes. */
  cacheControl: string
  /** `br` where the bytes are compressed. */
  encoding?: 'br'
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

/**
 * The built page in a folder. Each file is read once, and at once: the page waits for its few files while Berth starts
 * beside it. With `brotli`, the build's compressed copy is preferred.
 */
export class BuiltFiles {
  readonly #root: string
  readonly #read = new Map<string, BuiltFile>()

  constructor(root: string) {
    this.#root = root
  }

  /** The file for an address's path; undefined where the page has none. */
  find(pathname: string, brotli: boolean): BuiltFile | undefined {
    const name = pathname === '/' ? 'index.html' : pathname.slice(1)
    const type = types[extname(name)]
    const plain = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(name)
    if (!plain || type === undefined) return undefined
    const key = brotli ? `br ${name}` : name
    const found = this.#read.get(key) ?? this.#load(name, type, brotli)
    // Names that do not exist are not cached: there is no end to them.
    if (found) this.#read.set(key, found)
    return found
  }

  #load(name: string, type: string, brotli: boolean): BuiltFile | undefined {
    const file = { type, cacheControl: cacheControl(name) }
    const compressed = brotli ? this.#bytes(`${name}.br`) : undefined
    if (compressed !== undefined) return { ...file, bytes: compressed, encoding: 'br' }
    const bytes = this.#bytes(name)
    return bytes && { ...file, bytes }
  }

  #bytes(name: string): Buffer | undefined {
    try {
      return readFileSync(join(this.#root, name))
    } catch {
      return undefined
    }
  }
}

function cacheControl(name: string): string {
  const hashed = name.startsWith('assets/')
  return hashed ? 'public, max-age=31536000, immutable' : 'no-store'
}

/**
 * Parts the page from one that opened it. A page that the user or Berth opens has no such page, and the policy would
 * cost it the start of a second process, a tenth of the time until it shows.
 */
export function openerPolicy(site: string | undefined): Record<string, string> {
  return site === 'none' || site === 'same-origin' ? {} : { 'cross-origin-opener-policy': 'same-origin' }
}

/** The headers of all files of the page. `socket` is the only foreign address that it may connect to. */
export function pageHeaders(socket?: string): Record<string, string> {
  const policy = [
    "default-src 'self'",
    `connect-src 'self'${socket === undefined ? '' : ` ${socket}`}`,
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()',
  }
}
