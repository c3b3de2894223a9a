import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BerthConnection } from '#cli/connection.ts'
import { decodeLine, encodeLine, onLines } from '#start/socket-lines.ts'

test('bytes that arrive together with the answer that names their stream are read', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-cli-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const server = createServer(socket => {
    onLines(socket, line => {
      const message = decodeLine(line) as { kind: string; call: number }
      if (message.kind !== 'command') return
      socket.write(
        encodeLine({ kind: 'answer', call: message.call, answer: { stream: 1 } }) +
          encodeLine({ kind: 'data', stream: 1, bytes: new TextEncoder().encode('first ') }) +
          encodeLine({ kind: 'data', stream: 1, bytes: new TextEncoder().encode('second') }) +
          encodeLine({ kind: 'end', stream: 1 }),
      )
    })
  })
  const path = join(folder, 'socket')
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const connection = await BerthConnection.open(path)
  onTestFinished(() => connection.close())

  const { stream } = await connection.command('watchMetrics', { instance: 1 })
  let read = ''
  await connection.read(stream, bytes => {
    read += new TextDecoder().decode(bytes)
  })
  expect(read).toBe('first second')
})
