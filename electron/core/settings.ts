import * as v from 'valibot'
import type { Autostart, Clock, CommandFile, Files } from '#platform/platform.ts'
import { defaultSettings, Settings, type SettingsChange } from '#shared/settings.ts'
import { type Document, type DocumentPlace, openDocument } from './storage/json-file.ts'

type Stored = Record<string, unknown>

export type SettingsStore = Awaited<ReturnType<typeof openSettings>>

/** The settings file: invalid values fall back to their defaults, unknown ones are kept. */
export async function openSettings(files: Files, clock: Clock, onBroken: DocumentPlace['onBroken']) {
  const document: Document<Stored> = await openDocument(
    { files, platform: { clock }, onBroken },
    'settings',
    v.record(v.string(), v.unknown()),
    {},
  )
  return {
    get: (): Settings => readSettings(document.get()),
    /** Changes the named settings alone, in groups too. */
    async change(settings: SettingsChange): Promise<Settings> {
      await document.write(stored => merged(stored, settings))
      return readSettings(document.get())
    },
  }
}

/** Adopts the system's autostart state, which the user may have changed there. */
export async function followAutostart(
  settings: SettingsStore,
  autostart: Autostart | undefined,
): Promise<void> {
  const on = await autostart?.isOn().catch(() => undefined)
  if (on === undefined || on === (settings.get().startAtLogin !== 'no')) return
  await settings.change({ startAtLogin: on ? 'window' : 'no' })
}

/** Turns the setting off where the user removed the file; else rewrites it, since Berth may have moved. */
export async function followCommandFile(
  settings: SettingsStore,
  commandFile: CommandFile | undefined,
): Promise<void> {
  if (!commandFile || !settings.get().commandFile) return
  if (await commandFile.isThere()) await commandFile.write().catch(() => undefined)
  else await settings.change({ commandFile: false })
}

/** The settings after a change of the named ones, in groups too. */
export function settingsAfter(settings: Settings, changes: SettingsChange): Settings {
  return readSettings(merged(settings, changes))
}

function merged(stored: Stored, changes: Stored): Stored {
  const whole = { ...stored }
  for (const [name, value] of Object.entries(changes)) {
    const before = stored[name]
    whole[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value
  }
  return whole
}

function isRecord(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads each setting separately, in groups too, so that a bad value does not lose the others. */
export function readSettings(stored: Stored): Settings {
  return readFields(Settings.entries, stored, defaultSettings) as Settings
}

function readFields(entries: v.ObjectEntries, stored: unknown, defaults: object): Stored {
  const given: Stored = typeof stored === 'object' && stored !== null ? { ...stored } : {}
  return Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => {
      const schema = entries[name]
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (schema && isGroup(schema)) return [name, readFields(schema.entries, value, usual as object)]
      const checked = schema && v.safeParse(schema, value)
      return [name, checked?.success ? checked.output : usual]
    }),
  )
}

function isGroup(schema: v.ObjectEntries[string]): schema is v.ObjectSchema<v.ObjectEntries, undefined> {
  return 'type' in schema && schema.type === 'object'
}
