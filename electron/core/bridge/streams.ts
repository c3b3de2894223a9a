import type { Duplex } from 'node:stream'
import { type StreamMessage, streamWindow } from '#contract/messages.ts'
import type { Problem } from '#shared/problem.ts'

/** The streams of one page: a Duplex each on this side, numbered messages with grants on the page's. */
export type Streams = ReturnType<typeof createStreams>

/**
 * `send` returns whether the transport has room for more; if not, no stream is read until `drained`. A stream whose
 * page sends more than it was granted is destroyed.
 */
export function createStreams(send: (message: StreamMessage) => boolean) {
  const open = new Map<number, PageStream>()
  let last = 0
  let room = true
  let closed = false

  return {
    /** Connects a Duplex to the page and returns its number. `ended` resolves to why it ended, if there is a reason. */
    open(duplex: Duplex, ended?: Promise<Problem | undefined>): number {
      last += 1
      const number = last
      // An unhandled error after the end would crash the process.
      duplex.on('error', () => undefined)
      if (closed) {
        // The page left while the stream was being opened.
        duplex.destroy()
        return number
      }
      const stream = createPageStream(
        number,
        duplex,
        message => {
          room = send(message)
          return room
        },
        () => room,
      )
      open.set(number, stream)
      const finish = async (fault?: Error) => {
        if (!open.delete(number)) return
        duplex.destroy()
        const problem =
          (await ended?.catch(() => undefined)) ??
          (fault && { code: 'stream_failed', message: fault.message })
        send(problem ? { kind: 'end', stream: number, problem } : { kind: 'end', stream: number })
      }
      duplex.once('end', () => void finish())
      duplex.once('close', () => void finish())
      duplex.once('error', error => void finish(error))
      return number
    },
    receive(message: StreamMessage): void {
      const stream = open.get(message.stream)
      if (!stream) return
      if (message.kind === 'grant') stream.grant(message.bytes)
      else if (message.kind === 'data') stream.write(message.bytes)
      else {
        open.delete(message.stream)
        stream.close()
      }
    },
    /** Whether any is open. */
    flows: (): boolean => open.size > 0,
    /** Call when the transport has room again. */
    drained(): void {
      room = true
      for (const stream of open.values()) stream.flow()
    },
    close(): void {
      closed = true
      for (const stream of open.values()) stream.close()
      open.clear()
    },
  }
}

type PageStream = ReturnType<typeof createPageStream>

const largestPiece = 64 * 1024

function createPageStream(
  number: number,
  duplex: Duplex,
  send: (message: StreamMessage) => boolean,
  hasRoom: () => boolean,
) {
  /** Bytes that the page still accepts, and bytes that it may still send. */
  let outgoing = streamWindow
  let incoming = streamWindow

  function flow(): void {
    while (outgoing > 0 && hasRoom()) {
      const available = Math.min(outgoing, largestPiece, duplex.readableLength)
      if (available === 0) {
        // Makes the Duplex read more; 'readable' then calls flow again.
        duplex.read(0)
        return
      }
      const piece: unknown = duplex.read(available)
      if (!(piece instanceof Uint8Array)) return
      outgoing -= piece.length
      send({ kind: 'data', stream: number, bytes: piece })
    }
  }

  duplex.on('readable', flow)

  return {
    flow,
    grant(bytes: number): void {
      outgoing += bytes
      flow()
    },
    write(bytes: Uint8Array): void {
      incoming -= bytes.length
      if (incoming < 0) {
        duplex.destroy(new Error('The page sent more than it was allowed to.'))
        return
      }
      duplex.write(bytes, error => {
        if (error || duplex.destroyed) return
        incoming += bytes.length
        send({ kind: 'grant', stream: number, bytes: bytes.length })
      })
    },
    close(): void {
      duplex.destroy()
    },
  }
}
