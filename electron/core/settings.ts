import * as v from 'valibot'
import { defaultSettings, Settings } from '../contract/settings.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import { type Document, openDocument } from './remember/document.ts'

type Stored = Record<string, unknown>

/** The settings file: what is valid in it counts, what is not falls back to its default, what is unknown stays. */
export interface KeptSettings {
  get(): Settings
  change(settings: Partial<Settings>): Promise<Settings>
}

export async function openSettings(
  files: Files,
  clock: Clock,
  onBroken: (setAside: string) => void,
): Promise<KeptSettings> {
  const document: Document<Stored> = await openDocument({
    files,
    clock,
    name: 'settings.json',
    schema: v.record(v.string(), v.unknown()),
    empty: {},
    onBroken,
  })
  return {
    get: () => readSettings(document.get()),
    async change(settings) {
      await document.write(stored => ({ ...stored, ...settings }))
      return readSettings(document.get())
    },
  }
}

/** Each setting on its own: one bad value does not lose the others. */
export function readSettings(stored: Stored): Settings {
  const valid = Object.entries(Settings.entries).flatMap(([name, schema]) => {
    const checked = v.safeParse(schema, stored[name])
    return checked.success ? [[name, checked.output] as const] : []
  })
  return { ...defaultSettings, ...Object.fromEntries(valid) }
}
