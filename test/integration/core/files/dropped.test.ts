import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FileTransfer } from '#core/access/file-transfer.ts'
import { chosenFolder, chosenItem } from '#platform/chosen-files.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import type { FileStep, FileTransferView } from '#shared/instance/files.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import { uploadJob } from '#ssh/files/transfer/upload.ts'
import { hashOf, openPlace, type Place } from '#test/integration/ssh/files/place.ts'
import { randomFile } from '#test/integration/ssh/files/random-file.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'

const size = 48 * 1024 * 1024

interface Watched {
  transfer: FileTransfer
  /** The steps it went through, in order. */
  steps: FileStep[]
  until(wanted: (view: FileTransferView) => boolean): Promise<FileTransferView>
}

/** Begins a transfer with the sshd; `make` gets a callback for progress. */
function begin(place: Place, direction: 'up' | 'down', make: (changed: () => void) => TransferJob): Watched {
  const steps: FileStep[] = []
  const waiting = new Set<() => void>()
  const changed = () => {
    const { step } = transfer.view()
    if (steps.at(-1) !== step) steps.push(step)
    for (const check of waiting) check()
  }
  let later: () => void = () => undefined
  const transfer = new FileTransfer({
    id: 'f0000000000000001',
    target: { account: 'a00000001', instance: { id: 4711 } },
    direction,
    name: 'big',
    folder: place.there,
    job: make(() => later()),
    clock: systemClock,
    connect: place.connect,
    turn: async () => () => undefined,
    changed: () => later(),
    ended: () => undefined,
  })
  later = changed
  onTestFinished(() => transfer.cancel())
  return {
    transfer,
    steps,
    until: wanted =>
      new Promise(resolve => {
        const check = () => {
          const view = transfer.view()
          if (!wanted(view)) return
          waiting.delete(check)
          resolve(view)
        }
        waiting.add(check)
        check()
      }),
  }
}

const upload = (place: Place) =>
  begin(place, 'up', changed =>
    uploadJob({
      folder: place.there,
      list: chosenItem(join(place.here, 'big')).list,
      replace: false,
      changed,
    }),
  )

describe.skipIf(noSshd)(`a transfer whose connection is lost${noSshd}`, () => {
  test('an upload resumes once the network is back, with the right hash', async () => {
    const place = await openPlace()
    const hash = await randomFile(join(place.here, 'big'), size)
    const { until, steps } = upload(place)
    const before = await until(({ done }) => done > size / 4)
    await place.sshd.stop()
    await until(({ step }) => step === 'waiting')
    expect(readdirSync(place.there)).not.toContain('big')
    await place.sshd.start()
    const after = await until(({ step }) => step === 'running')
    expect(after.done).toBeGreaterThan(before.done / 2)
    await until(({ step }) => step === 'done')
    expect(hashOf(join(place.there, 'big'))).toBe(hash)
    expect(readdirSync(place.there)).toEqual(['big'])
    expect(steps).not.toContain('failed')
  })

  test('a download resumes automatically, with the right hash', async () => {
    const place = await openPlace()
    const hash = await randomFile(join(place.there, 'big'), size)
    const into = join(place.here, 'into')
    mkdirSync(into)
    const { until } = begin(place, 'down', changed =>
      downloadJob({ paths: [join(place.there, 'big')], into: chosenFolder(into), system: 'linux', changed }),
    )
    await until(({ done }) => done > size / 4)
    place.sshd.dropConnections()
    await until(({ step }) => step === 'waiting')
    expect(readdirSync(into)).not.toContain('big')
    await until(({ step }) => step === 'done')
    expect(hashOf(join(into, 'big'))).toBe(hash)
    expect(readdirSync(into)).toEqual(['big'])
  })

  test('an upload goes over another connection where its own takes no further session', async () => {
    const place = await openPlace(['MaxSessions 1'])
    const hash = await randomFile(join(place.here, 'big'), 1000)
    await place.sftp()
    const { until } = upload(place)
    expect(await until(({ endedAt }) => endedAt !== undefined)).toMatchObject({ step: 'done' })
    expect(hashOf(join(place.there, 'big'))).toBe(hash)
  })

  test('a paused upload resumes on request, and a cancelled one leaves nothing', async () => {
    const place = await openPlace()
    const hash = await randomFile(join(place.here, 'big'), size)
    const paused = upload(place)
    await paused.until(({ done }) => done > size / 4)
    paused.transfer.pause()
    expect(paused.transfer.view()).toMatchObject({ step: 'paused', resumable: true })
    paused.transfer.resume()
    await paused.until(({ step }) => step === 'done')
    expect(hashOf(join(place.there, 'big'))).toBe(hash)

    const other = begin(place, 'up', changed =>
      uploadJob({
        folder: place.there,
        list: chosenItem(join(place.here, 'big')).list,
        replace: true,
        changed,
      }),
    )
    await other.until(({ done }) => done > size / 4)
    expect(readdirSync(place.there)).toHaveLength(2)
    await other.transfer.cancel()
    expect(other.transfer.view()).toMatchObject({ step: 'cancelled', resumable: false })
    expect(readdirSync(place.there)).toEqual(['big'])
    expect(hashOf(join(place.there, 'big'))).toBe(hash)
  })
})
