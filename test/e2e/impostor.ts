import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** Another program that took a port which was Berth's, and does as if it were Berth. */
export interface Impostor {
  /** What came to it before any answer: addresses and headers. */
  asked: string[]
  /** How many sockets it took. */
  taken(): number
  /** Each byte that came after its handshakes. */
  heard(): string
  close(): Promise<void>
}

/** Takes the port on both addresses of loopback. `greeting` is what it says first in a socket, given the page's nonce. */
export async function startImpostor(
  port: number,
  greeting: (nonce: string) => string | undefined,
): Promise<Impostor> {
  const asked: string[] = []
  const heard: Buffer[] = []
  let taken = 0
  const servers = ['127.0.0.1', '::1'].map(host => {
    const server = createServer((request, response) => {
      asked.push(`${request.url}\n${request.rawHeaders.join('\n')}`)
      response.end('I am Berth')
    })
    server.on('upgrade', (request, socket, head) => {
      taken += 1
      asked.push(`${request.url}\n${request.rawHeaders.join('\n')}`)
      heard.push(head)
      socket.on('data', (bytes: Buffer) => heard.push(bytes)).on('error', () => undefined)
      const { 'sec-websocket-key': key, 'sec-websocket-protocol': protocols = '' } = request.headers
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      const [protocol, nonce = ''] = protocols.split(', ')
      const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
      lines.push(`Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`)
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      const text = greeting(nonce)
      if (text !== undefined) socket.write(textFrame(text))
    })
    return server.listen({ port, host, exclusive: true })
  })
  await Promise.all(servers.map(server => once(server, 'listening')))
  return {
    asked,
    taken: () => taken,
    heard: () => Buffer.concat(heard).toString('latin1'),
    async close() {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** A frame of a WebSocket, for texts of 126 to 65,535 bytes. */
function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text.padEnd(126))
  const head = Buffer.from([0x81, 126, 0, 0])
  head.writeUInt16BE(bytes.length, 2)
  return Buffer.concat([head, bytes])
}
