import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** A program that took Berth's former port and pretends to be Berth. */
export interface Impostor {
  /** The requests that it received: addresses and headers. */
  asked: string[]
  /** How many sockets it took. */
  taken(): number
  /** All bytes received after the handshakes. */
  heard(): string
  close(): Promise<void>
}

/** Takes the port on both loopback addresses. `greeting` makes the first message of a socket from the page's nonce. */
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
