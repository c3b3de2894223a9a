import * as v from 'valibot'
import { shortcutConflict, shortcutNames } from './accelerators.ts'
import { name } from './fields.ts'
import { SavedQuery } from './market/offer-query.ts'
import { SecretName } from './project/spec.ts'
import { Settings } from './settings.ts'

/** Settings that say how Berth looks and warns. The others are of one computer: its programs, keys and start. */
const travelling = v.pick(Settings, [
  'theme',
  'pollInterval',
  'lowCreditDollars',
  'lowCreditHours',
  'rentalDeadline',
  'alerts',
  'quietHours',
  'closeToTray',
  'tunnelsAtLoopback',
  'detailsTab',
  'instanceGroups',
  'orders',
  'offers',
])
const terminal = v.pick(Settings.entries.terminal, ['fontSize', 'fontFamily', 'tmux'])

/** A group may lack what the Berth that wrote the file had not yet: that stays as it is. */
const TravellingSettings = v.object({
  ...v.partial(travelling).entries,
  alerts: v.optional(v.partial(Settings.entries.alerts)),
  quietHours: v.optional(v.partial(Settings.entries.quietHours)),
  offers: v.optional(v.partial(Settings.entries.offers)),
  orders: v.optional(v.partial(Settings.entries.orders)),
  terminal: v.optional(v.partial(terminal)),
  shortcuts: v.optional(
    v.pipe(
      Settings.entries.shortcuts,
      v.check(
        shortcuts => shortcutNames.every(name => shortcutConflict(shortcuts, name, 'linux') === undefined),
        'two shortcuts have the same keys, or keys with their own use',
      ),
    ),
  ),
})
type TravellingSettings = v.InferOutput<typeof TravellingSettings>

/** Characters that an export has at most. */
export const longestExport = 2_000_000

/** An export of any version. */
export const AnyExport = v.object({ format: v.literal('berth-export'), version: v.number() })

/**
 * What moves to another computer, as a file: nothing in it is secret, and nothing acts. Limits, runs and watches stay
 * with the Berth that has them, since two would act twice.
 */
export const ExportFile = v.object({
  format: v.literal('berth-export'),
  version: v.literal(1),
  /** ISO 8601. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  settings: TravellingSettings,
  searches: v.pipe(v.array(v.object({ name, query: SavedQuery })), v.maxLength(500)),
  accounts: v.pipe(
    v.array(
      v.object({
        name,
        baseUrl: v.pipe(v.string(), v.nonEmpty(), v.maxLength(2048)),
        userId: v.optional(v.pipe(v.number(), v.safeInteger())),
      }),
    ),
    v.maxLength(50),
  ),
  /** Folders as people write them, for the user to add: a file may not choose what is sent to a machine. */
  projects: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(500)),
  /** Names of the secrets that projects use. */
  secrets: v.pipe(v.array(SecretName), v.maxLength(500)),
})
export type ExportFile = v.InferOutput<typeof ExportFile>

/** The settings that an export has. */
export function travellingSettings(settings: Settings): TravellingSettings {
  return v.parse(TravellingSettings, settings)
}

/** What an import would change here. */
export interface ImportPlan {
  at: string
  /** Whether settings here differ, and are replaced. */
  settings: boolean
  /** What is less safe with them than now, a sentence each. */
  lessSafe: readonly string[]
  searches: { added: readonly string[]; replaced: readonly string[] }
  /** Accounts that are not here yet; each asks for its key. */
  accounts: readonly { name: string; baseUrl: string }[]
  /** To be done by hand: folders that are no projects here, and secrets without a value. */
  folders: readonly string[]
  secrets: readonly string[]
}
