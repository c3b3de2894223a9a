import type { RawData, WebSocket } from 'ws'
import { decodeMessage, encodeMessage } from '#contract/bridge/frames.ts'
import type { RunningBerth } from '#core/running.ts'

/** Queued bytes at which the page's streams are paused. */
const fullAt = 1024 * 1024
/** Milliseconds between two checks of a full socket. */
const checkInterval = 10

/** Joins a page's socket to Berth: the contract's messages both ways, with streams paused while the socket is full. */
export function joinPage(berth: Pick<RunningBerth, 'connectPage'>, socket: WebSocket): void {
  let watching: NodeJS.Timeout | undefined

  const link = berth.connectPage(message => {
    if (socket.readyState !== socket.OPEN) return true
    socket.send(encodeMessage(message))
    if (socket.bufferedAmount < fullAt) return true
    watching ??= setInterval(watch, checkInterval)
    return false
  })

  function watch(): void {
    if (socket.bufferedAmount >= fullAt / 2) return
    clearInterval(watching)
    watching = undefined
    link.drained()
  }

  socket.on('message', (data, isBinary) => {
    const message = decodeMessage(isBinary ? bytesOf(data) : String(data))
    if (message !== undefined) link.receive(message)
  })
  socket.on('close', () => {
    clearInterval(watching)
    link.close()
  })
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data
}
