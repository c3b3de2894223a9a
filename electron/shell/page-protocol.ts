import { protocol } from 'electron'
import type { BuiltFiles } from '../local/page-server/page-files.ts'
import { pageHeaders } from '../local/page-server/page-headers.ts'
import { isPage, pageScheme } from './page-address.ts'

/**
 * Makes the page's scheme a proper origin, whose compiled scripts Chromium keeps for the next start. Has no effect once
 * Electron is ready.
 */
export function declarePageScheme(): void {
  const privileges = { standard: true, secure: true, supportFetchAPI: true, codeCache: true }
  protocol.registerSchemesAsPrivileged([{ scheme: pageScheme, privileges }])
}

/** Serves the built page under its scheme, with the same headers as in browser mode. */
export function servePage(files: BuiltFiles): void {
  protocol.handle(pageScheme, request => answerPage(files, request))
}

async function answerPage(files: BuiltFiles, request: Pick<Request, 'url' | 'method'>): Promise<Response> {
  const headers = pageHeaders()
  if (!isPage(request.url)) return new Response('403\n', { status: 403, headers })
  if (request.method !== 'GET') return new Response('405\n', { status: 405, headers })
  const file = await files.find(new URL(request.url).pathname, false)
  if (file === undefined) return new Response('404\n', { status: 404, headers })
  return new Response(new Uint8Array(file.bytes), {
    headers: { ...headers, 'content-type': file.type, 'cache-control': file.cacheControl },
  })
}
