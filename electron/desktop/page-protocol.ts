import { type ProtocolResponse, protocol } from 'electron'
import { type BuiltFiles, pageHeaders } from '../browser/page-files.ts'
import { isPage, pageScheme } from './page-origin.ts'

/**
 * Makes the page's scheme a proper origin, whose compiled scripts Chromium keeps for the next start. Has no effect once
 * Electron is ready.
 */
export function declarePageScheme(): void {
  const privileges = { standard: true, secure: true, supportFetchAPI: true, codeCache: true }
  protocol.registerSchemesAsPrivileged([{ scheme: pageScheme, privileges }])
}

/**
 * Serves the built page under its scheme, with the same headers as in browser mode. Electron would rather have
 * `protocol.handle`, which loads all of Node's `fetch` first: a tenth of the time until the first row.
 */
export function servePage(files: BuiltFiles): void {
  protocol.registerBufferProtocol(pageScheme, (request, answer) => answer(answerTo(files, request)))
}

function answerTo(files: BuiltFiles, { url, method }: Electron.ProtocolRequest): ProtocolResponse {
  const headers = pageHeaders()
  if (!isPage(url)) return refusal(403)
  if (method !== 'GET') return refusal(405)
  const file = files.find(new URL(url).pathname, false)
  if (file === undefined) return refusal(404)
  return {
    mimeType: file.type.split(';')[0],
    charset: 'utf-8',
    headers: { ...headers, 'content-type': file.type, 'cache-control': file.cacheControl },
    data: file.bytes,
  }
}

function refusal(statusCode: number): ProtocolResponse {
  return { statusCode, headers: pageHeaders(), data: Buffer.from(`${statusCode}\n`) }
}
