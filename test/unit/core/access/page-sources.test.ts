import { expect, test } from 'vitest'
import { type StreamMessage, streamWindow } from '#contract/messages.ts'
import { pageSources } from '#core/access/page-sources.ts'
import { createStreams } from '#core/bridge/streams.ts'
import { PageStream } from '#renderer/bridge/stream.ts'
import { serveFiles } from '#renderer/screens/instances/files/filesView.svelte.ts'

/** Both ends of an upload, joined as by a transport. */
function joined(blobs: readonly Blob[]) {
  const about = blobs.map((blob, at) => ({ path: [`file ${at}`], size: blob.size, modified: 1 }))
  const sources = pageSources(about)
  let toPage: (message: StreamMessage) => void = () => undefined
  const streams = createStreams(message => {
    queueMicrotask(() => toPage(structuredClone(message)))
    return true
  })
  const id = streams.open(sources.stream)
  const page = new PageStream(id, message => queueMicrotask(() => streams.receive(structuredClone(message))))
  toPage = message => page.take(message)
  serveFiles(page, blobs, () => undefined)
  return { sources, page }
}

async function readAll(sources: ReturnType<typeof pageSources>, file: number, from = 0): Promise<Buffer> {
  const source = sources.files[file]
  const open = await source?.open()
  const pieces: Buffer[] = []
  const size = source?.size ?? 0
  const wanted = Array.from({ length: Math.ceil((size - from) / 261_120) }, (_, at) => from + at * 261_120)
  await Promise.all(
    wanted.map(async (offset, at) => {
      const into = Buffer.alloc(Math.min(261_120, size - offset))
      expect(await open?.read(offset, into)).toBe(into.length)
      pieces[at] = into
    }),
  )
  return Buffer.concat(pieces)
}

test('files in the page are read in parallel pieces, past the stream window', async () => {
  const bytes = Buffer.from(
    Array.from({ length: streamWindow * 6 + 7 }, (_, at) => (at * 31 + (at >> 8)) & 255),
  )
  const { sources } = joined([new Blob(['small']), new Blob([bytes])])
  const [small, large] = await Promise.all([readAll(sources, 0), readAll(sources, 1)])
  expect(small.toString()).toBe('small')
  expect(large.equals(bytes)).toBe(true)
  expect((await readAll(sources, 1, 1_000_000)).equals(bytes.subarray(1_000_000))).toBe(true)
})

test('reading a file that the browser can no longer read fails and says so', async () => {
  const gone = new Blob(['x'])
  gone.slice = () => {
    throw new DOMException('gone', 'NotReadableError')
  }
  const { sources } = joined([gone])
  const open = await sources.files[0]?.open()
  await expect(open?.read(0, Buffer.alloc(1))).rejects.toThrow(/can’t read the file/)
})

test('reading fails once the page has closed', async () => {
  const { sources, page } = joined([new Blob(['x'])])
  const open = await sources.files[0]?.open()
  page.close()
  await sources.gone
  await expect(open?.read(0, Buffer.alloc(1))).rejects.toThrow(/closed or reloaded/)
})

test('an answer to an unknown request, or one that is too long, closes the stream', async () => {
  for (const head of [
    [0, 0, 0, 9, 0, 0, 0, 1],
    [0, 0, 0, 1, 0, 0, 0, 9],
  ]) {
    const sources = pageSources([{ path: ['a'], size: 4, modified: 1 }])
    sources.stream.on('error', () => undefined)
    const open = await sources.files[0]?.open()
    const reading = expect(open?.read(0, Buffer.alloc(4))).rejects.toThrow()
    sources.stream.write(Buffer.from(head))
    await sources.gone
    await reading
  }
})
