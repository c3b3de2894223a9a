import { connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import { listen } from '#test/loopback.ts'

/** A proxy to a local port that breaks permanently after `after` bytes, both directions together. */
export async function cuttingWay(to: number, after: number): Promise<{ host: string; port: number }> {
  let left = after
  const server = createServer(near => {
    const far = connect(to, '127.0.0.1')
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes: Buffer) => {
        into.write(bytes.subarray(0, Math.max(0, left)))
        left -= bytes.length
        if (left <= 0) into.end(cut)
      })
      from.on('error', cut)
      from.on('close', cut)
    }
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return { host: '127.0.0.1', port }
}

/** Pseudo-random numbers from 0 to 1, the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
