import type { Writable } from 'node:stream'

/** A command's output. Waits while the reader is slow; rejects once the command must end. */
export type Sink = (data: string | Buffer) => Promise<void>

/** The command must end: by Ctrl-C, or as its reader is gone. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted')
    this.name = 'Interrupted'
  }
}

/**
 * Writes to a stream and waits until it has taken everything, so no more than one piece is ever held here.
 * Rejects with Interrupted when `signal` fires, also in the middle of waiting (a closed channel never answers).
 */
export function streamSink(stream: Writable, signal: AbortSignal): Sink {
  return data =>
    new Promise((resolve, reject) => {
      const stop = () => reject(new Interrupted())
      if (signal.aborted || !stream.writable) {
        stop()
        return
      }
      signal.addEventListener('abort', stop, { once: true })
      stream.write(data, error => {
        signal.removeEventListener('abort', stop)
        if (error) stop()
        else resolve()
      })
    })
}

/** Converts for a terminal: a new line also returns to the first column. */
export function terminalSink(sink: Sink): Sink {
  return data => sink(data.toString().replace(/\r?\n/g, '\r\n'))
}
