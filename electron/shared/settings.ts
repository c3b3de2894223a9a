import * as v from 'valibot'
import { defaultShortcuts, keysPattern, type ShortcutName } from './accelerators.ts'
import { eachAlertKind } from './alert-kinds.ts'
import { sortColumns } from './market/offer-columns.ts'
import { SavedQuery } from './market/offer-query.ts'
import { Everything, SpenderForm } from './spending/spender.ts'

/** The messages give the bounds in the page's unit. */
const amount = (least: number, leastWord: string, most: number, mostWord: string) =>
  v.pipe(
    v.number('enter a number'),
    v.minValue(least, `at least ${leastWord}`),
    v.maxValue(most, `at most ${mostWord}`),
  )

const timeOfDay = v.pipe(v.string(), v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time is written like 22:30'))

const ListOrder = v.object({ column: v.pipe(v.string(), v.maxLength(32)), descending: v.boolean() })
/** The column that orders a list. */
export type ListOrder = v.InferOutput<typeof ListOrder>

const Keys = v.pipe(v.string(), v.regex(keysPattern, 'keys have Ctrl or Alt, or are a function key'))
const shortcutKeys = Object.fromEntries(Object.keys(defaultShortcuts).map(name => [name, Keys])) as Record<
  ShortcutName,
  typeof Keys
>

/** The tabs of an instance's details, in their order. */
export const detailsTabs = ['terminal', 'files', 'monitor', 'automation', 'details'] as const
export const instanceGroupings = ['none', 'name', 'project', 'tag'] as const
export type InstanceGrouping = (typeof instanceGroupings)[number]
export type DetailsTab = (typeof detailsTabs)[number]

/** The user's settings. Stored in settings.json, where unknown entries stay untouched. */
export const Settings = v.object({
  theme: v.picklist(['system', 'light', 'dark']),
  /** Seconds between two polls of an account. */
  pollInterval: amount(2, '2 seconds', 300, '300 seconds'),
  /** Dollars: warn when the credit is lower. 0 turns it off. */
  lowCreditDollars: amount(0, '$0', 1_000_000, '$1,000,000'),
  /** Hours: warn when the credit lasts less. 0 turns it off. */
  lowCreditHours: amount(0, '0 hours', 10_000, '10,000 hours'),
  /** Seconds until Berth alerts that a rental does not run yet. */
  rentalDeadline: amount(60, '1 minute', 7200, '120 minutes'),
  /** The kinds of alert to show. */
  alerts: v.object(eachAlertKind(v.boolean())),
  /** Local times between which notifications wait; afterwards one notification sums them up. */
  quietHours: v.object({
    on: v.boolean(),
    from: timeOfDay,
    to: timeOfDay,
    /** Whether critical notifications are shown nevertheless. */
    critical: v.boolean(),
  }),
  /** The agents and scripts that may spend, and their caps; a project may have caps, too. */
  spenders: v.pipe(v.array(SpenderForm), v.maxLength(50, 'at most 50 names')),
  /** Caps over all machines of each account, yours too. */
  everything: Everything,
  /** The port on 127.0.0.1 with figures for Prometheus; 0 for none. */
  metricsPort: v.pipe(
    v.number('enter a port'),
    v.integer('a port is a whole number'),
    v.check(port => port === 0 || (port >= 1024 && port <= 65_535), '1024 to 65535, or 0'),
    v.check(port => port < 20_000 || port > 29_999, '20000 to 29999 are for instances’ pages'),
  ),
  /** Whether Berth starts when the user logs in, and how. */
  startAtLogin: v.picklist(['no', 'window', 'tray']),
  /** Whether Berth stays in the tray when its window is closed, where there is a tray. */
  closeToTray: v.boolean(),
  terminal: v.object({
    /** Points. */
    fontSize: amount(8, '8 points', 32, '32 points'),
    /** Font families, of which the first installed one is used; empty for Berth's own. Without CSS syntax. */
    fontFamily: v.pipe(
      v.string(),
      v.maxLength(200, 'At most 200 letters.'),
      v.regex(/^[\p{L}\p{N} ._+,'"-]*$/u, 'Only names of fonts, with commas between them.'),
    ),
    /** The terminal program to open, of those found on this machine; empty for the first. */
    program: v.pipe(v.string(), v.maxLength(64)),
    /** Whether shells live in tmux, where the instance has it, so that programs in them outlive the connection. */
    tmux: v.boolean(),
    /**
     * The user's own terminal program with its arguments, used instead of `program`; empty for none. It can only be
     * set in the file, not by the page.
     */
    command: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(64)),
  }),
  /** The editor to open, of those found on this machine; empty for the first. */
  editor: v.pipe(v.string(), v.maxLength(64)),
  /** Whether `~/.ssh/config` includes Berth's file, with a `Host` for each instance. */
  sshConfig: v.boolean(),
  /** Whether pages of instances open at 127.0.0.1, for a browser that does not resolve names below localhost. */
  tunnelsAtLoopback: v.boolean(),
  /** Whether shells find the command `berth`, through a file in the user's folder for programs. */
  commandFile: v.boolean(),
  /** The last chosen tab of an instance's details. */
  detailsTab: v.picklist(detailsTabs),
  /** The grouping of the rows of Instances. */
  instanceGroups: v.picklist(instanceGroupings),
  /** What the lists are ordered by; null for their own order. */
  orders: v.object({
    instances: v.nullable(ListOrder),
    offers: v.nullable(ListOrder),
    templates: v.nullable(ListOrder),
  }),
  /** The keys that work on every screen, and the one that works everywhere. */
  shortcuts: v.object(shortcutKeys),
  offers: v.object({
    /** The columns of the offers' table; empty lets Berth choose them by the available width. */
    columns: v.array(v.picklist(sortColumns)),
    /** The last search; null before the first. */
    search: v.nullable(SavedQuery),
  }),
  /** The SSH key to connect with: `berth` for Berth's own, else the name of a key in `~/.ssh`. */
  sshKey: v.pipe(v.string(), v.maxLength(256)),
})
export type Settings = v.InferOutput<typeof Settings>

/**
 * The settings that the page may change: all but `terminal.command`. Those in a group can be sent one by one, since
 * the page may not know yet of another one that it has just changed.
 */
export const ChangeableSettings = v.partial(
  v.object({
    ...Settings.entries,
    alerts: v.partial(Settings.entries.alerts),
    quietHours: v.partial(Settings.entries.quietHours),
    offers: v.partial(Settings.entries.offers),
    orders: v.partial(Settings.entries.orders),
    shortcuts: v.partial(Settings.entries.shortcuts),
    terminal: v.partial(v.omit(Settings.entries.terminal, ['command'])),
  }),
)
export type SettingsChange = v.InferOutput<typeof ChangeableSettings>

export const defaultSettings: Settings = {
  theme: 'system',
  pollInterval: 10,
  lowCreditDollars: 5,
  lowCreditHours: 3,
  rentalDeadline: 600,
  alerts: eachAlertKind(true),
  quietHours: { on: false, from: '22:00', to: '07:00', critical: true },
  spenders: [],
  everything: { perHour: null, machines: null },
  metricsPort: 0,
  startAtLogin: 'no',
  closeToTray: true,
  terminal: { fontSize: 13, fontFamily: '', program: '', tmux: true, command: [] },
  editor: '',
  sshConfig: false,
  tunnelsAtLoopback: false,
  commandFile: false,
  detailsTab: 'details',
  instanceGroups: 'none',
  orders: { instances: null, offers: null, templates: null },
  shortcuts: defaultShortcuts,
  offers: { columns: [], search: null },
  sshKey: 'berth',
}
