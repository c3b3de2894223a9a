import * as v from 'valibot'
import { openDocument } from '#core/storage/json-file.ts'
import type { Clock, Files } from '#machine/machine.ts'

const length = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const StoredPlace = v.object({
  x: v.pipe(v.number(), v.safeInteger()),
  y: v.pipe(v.number(), v.safeInteger()),
  width: length,
  height: length,
  maximized: v.boolean(),
})
export type StoredPlace = v.InferOutput<typeof StoredPlace>

/** Window places, by window and arrangement of the screens. */
export interface StoredPlaces {
  get(arrangement: string): StoredPlace | undefined
  keep(arrangement: string, place: StoredPlace): void
  flush(): Promise<void>
}

/** The most places to store; the one changed longest ago is dropped. */
const most = 16

export async function openStoredPlaces(files: Files, clock: Clock): Promise<StoredPlaces> {
  // A broken file is not reported: the window then opens where a new one would.
  const document = await openDocument(
    { files, machine: { clock }, onBroken: () => undefined },
    'window',
    v.record(v.string(), StoredPlace),
    {},
  )
  return {
    get: arrangement => document.get()[arrangement],
    keep: (arrangement, place) =>
      document.writeSoon(({ [arrangement]: _, ...others }) =>
        Object.fromEntries([...Object.entries(others).slice(1 - most), [arrangement, place]]),
      ),
    flush: document.flush,
  }
}
