import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BrowserDownload, BrowserDownloads, ByteSink } from '../platform/folders.ts'

/** Milliseconds until an unused address expires. */
const validFor = 60_000
const folder = '/download/'

/**
 * Downloads by one-use addresses. The browser writes the bytes where the user wants, under its own temporary name,
 * slows the sender down while its disk is slow, and holds none in the page's memory. Unlike the file pickers of
 * scripts, every browser supports this.
 */
export class PageDownloads implements BrowserDownloads {
  readonly #offered = new Map<string, { download: BrowserDownload; forget: () => void }>()

  offer(download: BrowserDownload): string {
    const key = randomBytes(32).toString('base64url')
    const timer = setTimeout(() => {
      this.#offered.delete(key)
      download.unused()
    }, validFor)
    timer.unref()
    this.#offered.set(key, { download, forget: () => clearTimeout(timer) })
    return `${folder}${key}`
  }

  /** Whether the path belongs to a download, used or not. */
  isDownload(path: string): boolean {
    return path.startsWith(folder)
  }

  /**
   * Sends the path's download, or gives the status of a refusal. Requests from other sites are refused, where the
   * browser names the site. `headers` go with every answer.
   */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    headers: Record<string, string>,
  ): number | undefined {
    const site = request.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin') return 403
    if (request.method !== 'GET') return 405
    const key = path.slice(folder.length)
    const offered = this.#offered.get(key)
    if (offered === undefined) return 404
    this.#offered.delete(key)
    offered.forget()
    const { name, size, serve } = offered.download
    response.writeHead(200, {
      ...headers,
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${asciiOf(name)}"; filename*=UTF-8''${encoded(name)}`,
      'cache-control': 'no-store',
      ...(size === undefined ? {} : { 'content-length': size }),
    })
    response.flushHeaders()
    serve(sinkOf(response))
    return undefined
  }
}

function sinkOf(response: ServerResponse): ByteSink {
  const sink: ByteSink = {
    onLeave: () => undefined,
    async write(bytes: Uint8Array): Promise<void> {
      if (response.destroyed) throw new Error('the browser has left')
      // Copied, since the caller reuses the bytes while they are queued.
      if (response.write(Buffer.from(bytes))) return
      await Promise.race([once(response, 'drain'), once(response, 'close')])
      if (response.destroyed) throw new Error('the browser has left')
    },
    end: () => void response.end(),
    abort: () => void response.destroy(),
  }
  response.on('error', () => undefined)
  response.once('close', () => {
    if (!response.writableFinished) sink.onLeave()
  })
  return sink
}

function asciiOf(name: string): string {
  return name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
}

/** Encodes a name for a header (RFC 5987). The name must have no lone surrogates. */
function encoded(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*!]/g,
    letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
