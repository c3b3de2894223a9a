import { type Agent, type IncomingHttpHeaders, request } from 'node:http'

interface Asking {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** An agent that reuses connections; by default each request has its own. */
  agent?: Agent
}

export interface Asked {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** A request to a name below localhost, which browsers resolve to 127.0.0.1 but systems may not. */
export function askByName(
  url: string | URL,
  { method = 'GET', headers = {}, body = '', agent }: Asking = {},
): Promise<Asked> {
  const { host, port, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const asking = request({
      host: '127.0.0.1',
      port,
      method,
      path: pathname + search,
      headers: { host, ...headers },
      agent: agent ?? false,
      maxHeaderSize: 1024 * 1024,
    })
    asking.on('error', reject)
    asking.on('response', async answer => {
      let text = ''
      try {
        for await (const part of answer) text += part
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
      } catch (error) {
        reject(error)
      }
    })
    asking.end(body)
  })
}
