import { Duplex } from 'node:stream'
import type { Source } from '#platform/folders.ts'
import { answerHead, encodeRequest, type PageFile, unreadable } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'

/** Files that the page holds, read through a stream piece by piece. */
export interface PageSources {
  files: Source[]
  stream: Duplex
  /** Resolves when the page is gone, and its files with it. */
  gone: Promise<void>
}

interface PendingRead {
  into: Uint8Array
  filled: number
  /** Bytes that the page announced; undefined before that. */
  expected: number | undefined
  resolve(bytes: number): void
  reject(error: Error): void
}

export function pageSources(files: readonly PageFile[]): PageSources {
  const asked = new Map<number, PendingRead>()
  let lastRequest = 0
  let head = Buffer.alloc(0)
  let current: { request: number; asked: PendingRead } | undefined

  const stream = new Duplex({
    read() {
      // Nothing to do: requests are pushed when they are made.
    },
    write(bytes: Buffer, _encoding, done) {
      try {
        take(bytes)
        done()
      } catch (error) {
        done(error instanceof Error ? error : new Error('The page sent an unexpected message.'))
      }
    },
  })

  const gone = new Promise<void>(resolve => {
    stream.once('close', () => {
      for (const { reject } of asked.values()) reject(pageGone())
      asked.clear()
      resolve()
    })
  })

  function take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (current === undefined) {
        const more = Math.min(answerHead - head.length, bytes.length - at)
        head = Buffer.concat([head, bytes.subarray(at, at + more)])
        at += more
        if (head.length === answerHead) begin(head.readUInt32BE(0), head.readUInt32BE(4))
        continue
      }
      const { request, asked: one } = current
      const more = Math.min((one.expected ?? 0) - one.filled, bytes.length - at)
      one.into.set(bytes.subarray(at, at + more), one.filled)
      one.filled += more
      at += more
      if (one.filled === one.expected) finish(request, one)
    }
  }

  function begin(request: number, length: number): void {
    head = Buffer.alloc(0)
    const one = asked.get(request)
    if (one === undefined) throw new Error('The page sent an answer that doesn’t fit the question.')
    if (length === unreadable) {
      asked.delete(request)
      one.reject(new BerthError(cannotRead))
      return
    }
    if (length > one.into.length) throw new Error('The page sent more data than requested.')
    one.expected = length
    if (length === 0) finish(request, one)
    else current = { request, asked: one }
  }

  function finish(request: number, one: PendingRead): void {
    current = undefined
    asked.delete(request)
    one.resolve(one.filled)
  }

  function read(file: number, offset: number, into: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      if (stream.destroyed) return reject(pageGone())
      lastRequest = (lastRequest % 0xffff_fffe) + 1
      asked.set(lastRequest, { into, filled: 0, expected: undefined, resolve, reject })
      stream.push(encodeRequest({ request: lastRequest, file, offset, length: into.length }))
    })
  }

  return {
    stream,
    gone,
    files: files.map(({ path, size, modified }, file) => ({
      path,
      size,
      modified,
      executable: false,
      open: async () => ({
        read: (offset, into) => read(file, offset, into),
        close: async () => undefined,
      }),
    })),
  }
}

function pageGone(): BerthError {
  return new BerthError(pageGoneProblem)
}

export const pageGoneProblem = {
  code: 'page_gone',
  message: 'The page with the files was closed or reloaded.',
  advice: 'Choose the same files again. Files that have arrived are skipped.',
}

const cannotRead: Problem = {
  code: 'file_unreadable',
  message: 'The browser can’t read the file: it was changed, moved or removed.',
  advice: 'Choose it again.',
}
