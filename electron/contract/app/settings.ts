import * as v from 'valibot'
import { SavedQuery } from '../market/offer.ts'
import { sortColumns } from '../market/sort.ts'

/** Bounds are told in the unit that the page shows. */
const amount = (least: number, leastWord: string, most: number, mostWord: string) =>
  v.pipe(
    v.number('give a number'),
    v.minValue(least, `at least ${leastWord}`),
    v.maxValue(most, `at most ${mostWord}`),
  )

const timeOfDay = v.pipe(v.string(), v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time is written like 22:30'))

/** The tabs of an instance's details, in their order. */
export const detailsTabs = ['terminal', 'files', 'monitor', 'automation', 'details'] as const
export type DetailsTab = (typeof detailsTabs)[number]

/** What the user can choose. Kept in settings.json; unknown entries there are left alone. */
export const Settings = v.object({
  theme: v.picklist(['system', 'light', 'dark']),
  /** Seconds between two polls of an account. */
  pollInterval: amount(2, '2 seconds', 300, '300 seconds'),
  /** Dollars: warn when the credit falls below. 0 turns it off. */
  lowCreditDollars: amount(0, '$0', 1_000_000, '$1,000,000'),
  /** Hours: warn when the credit lasts less. 0 turns it off. */
  lowCreditHours: amount(0, '0 hours', 10_000, '10,000 hours'),
  /** Seconds a rental may take to be running before Berth says so. */
  rentalDeadline: amount(60, '1 minute', 7200, '120 minutes'),
  /** Kinds of alert that are told. */
  alerts: v.object({
    lowCredit: v.boolean(),
    outbid: v.boolean(),
    ready: v.boolean(),
    halted: v.boolean(),
    crashed: v.boolean(),
    hostGone: v.boolean(),
    contractEnd: v.boolean(),
    priceIncrease: v.boolean(),
    diskFull: v.boolean(),
    attempts: v.boolean(),
    recovery: v.boolean(),
    guard: v.boolean(),
    run: v.boolean(),
    watch: v.boolean(),
  }),
  /** Times of this machine between which notifications wait; what waited is told in one afterwards. */
  quietHours: v.object({
    on: v.boolean(),
    from: timeOfDay,
    to: timeOfDay,
    /** Whether what is critical is told all the same. */
    critical: v.boolean(),
  }),
  /** Whether Berth starts when the user logs in, and how. */
  startAtLogin: v.picklist(['no', 'window', 'tray']),
  /** Whether closing the window leaves Berth in the tray, where there is one. */
  closeToTray: v.boolean(),
  terminal: v.object({
    /** Points. */
    fontSize: amount(8, '8 points', 32, '32 points'),
    /** Families, the first that is there is used; empty for Berth's own. Nothing that means more to CSS than a name. */
    fontFamily: v.pipe(
      v.string(),
      v.maxLength(200, 'At most 200 letters.'),
      v.regex(/^[\p{L}\p{N} ._+,'"-]*$/u, 'Only names of fonts, with commas between them.'),
    ),
    /** Which of the terminal programs found on this machine opens; empty for the first. */
    program: v.pipe(v.string(), v.maxLength(64)),
    /** Whether shells live in tmux, where the instance has it, so that what runs in them outlives the connection. */
    tmux: v.boolean(),
    /**
     * A terminal program of the user's own, with its arguments, used before `program`. Set by hand in the file alone:
     * the page cannot. Empty for none.
     */
    command: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(64)),
  }),
  /** Which of the editors found on this machine opens; empty for the first. */
  editor: v.pipe(v.string(), v.maxLength(64)),
  /** Whether `~/.ssh/config` includes Berth's file, with a `Host` for each instance. */
  sshConfig: v.boolean(),
  /** Whether shells find the command `berth`, by a file in the user's folder for programs. */
  commandFile: v.boolean(),
  /** Pixels that the panel of an instance's details was last given; 0 until the user has moved its edge. */
  detailsHeight: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
  /** The tab of an instance's details that was chosen last. */
  detailsTab: v.picklist(detailsTabs),
  offers: v.object({
    /** The columns that are shown of offers; empty for those that Berth chooses by the room there is. */
    columns: v.array(v.picklist(sortColumns)),
    /** What was looked for last; null before anything was. */
    search: v.nullable(SavedQuery),
  }),
  /** Which key gets in: `berth` for Berth's own, else the name of a key in `~/.ssh`. */
  sshKey: v.pipe(v.string(), v.maxLength(256)),
})
export type Settings = v.InferOutput<typeof Settings>

/**
 * What the page may change, each setting for itself within a group too, since it may not know yet of another that it
 * has just changed. All but the program that is set by hand, which is left out of what it sends.
 */
export const ChangeableSettings = v.partial(
  v.object({
    ...Settings.entries,
    alerts: v.partial(Settings.entries.alerts),
    quietHours: v.partial(Settings.entries.quietHours),
    offers: v.partial(Settings.entries.offers),
    terminal: v.partial(v.omit(Settings.entries.terminal, ['command'])),
  }),
)
export type SettingsChange = v.InferOutput<typeof ChangeableSettings>

// interface 8: Suggested poll interval: 10 seconds
export const defaultSettings: Settings = {
  theme: 'system',
  pollInterval: 10,
  lowCreditDollars: 5,
  lowCreditHours: 3,
  rentalDeadline: 600,
  alerts: {
    lowCredit: true,
    outbid: true,
    ready: true,
    halted: true,
    crashed: true,
    hostGone: true,
    contractEnd: true,
    priceIncrease: true,
    diskFull: true,
    attempts: true,
    recovery: true,
    guard: true,
    run: true,
    watch: true,
  },
  quietHours: { on: false, from: '22:00', to: '07:00', critical: true },
  startAtLogin: 'no',
  closeToTray: true,
  terminal: { fontSize: 13, fontFamily: '', program: '', tmux: true, command: [] },
  editor: '',
  sshConfig: false,
  commandFile: false,
  detailsHeight: 0,
  detailsTab: 'details',
  offers: { columns: [], search: null },
  sshKey: 'berth',
}
