import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from '#test/loopback.ts'

/** A proxy to a local port that can be cut like a network: nothing passes, and neither side learns of it. */
export interface Cable {
  port: number
  pull(): void
  /** Lets held bytes pass, as retransmission does once a network is back. */
  plug(): void
  close(): Promise<void>
}

export async function startCable(to: number): Promise<Cable> {
  const ends = new Set<Socket>()
  let pulled = false
  const join = (one: Socket, other: Socket) => {
    ends.add(one)
    // Nagle's algorithm would add a delay that no network has.
    one.setNoDelay(true)
    if (pulled) one.pause()
    one.on('data', bytes => {
      other.write(bytes)
    })
    one.on('end', () => other.end())
    one.on('error', () => other.destroy())
    one.on('close', () => ends.delete(one))
  }
  const server = createServer({ allowHalfOpen: true }, near => {
    const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
    join(near, far)
    join(far, near)
  })
  const port = await listen(server)
  return {
    port,
    pull() {
      pulled = true
      for (const end of ends) end.pause()
    },
    plug() {
      pulled = false
      for (const end of ends) end.resume()
    },
    async close() {
      server.close()
      for (const end of ends) end.destroy()
      await once(server, 'close')
    },
  }
}
