import * as v from 'valibot'
import { type ImportPlan, longestExport } from '#shared/export.ts'
import { InstanceId } from '#shared/ids.ts'
import { ChangeableSettings } from '#shared/settings.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type DemoMessage, demoEvents } from '../demo-events.ts'
import { command } from './command.ts'

/** One character more says that the file is longer. */
const exported = v.pipe(v.string(), v.maxLength(longestExport + 1))

/** Commands about Berth itself, not the service. */
export const appCommands = {
  changeSettings: command({ settings: ChangeableSettings }).answers<void>(),
  /** Newest first, older than the entry with the id `before`. */
  searchActivity: command({
    text: v.pipe(v.string(), v.maxLength(200)),
    before: v.optional(v.pipe(v.string(), v.maxLength(64))),
    limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500)),
  }).answers<readonly ActivityEntry[]>(),
  /** The user clicked a notice of the page, or one of its buttons. */
  answerNotice: command({
    id: v.pipe(v.string(), v.maxLength(200)),
    action: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  dismissNotice: command({ id: v.pipe(v.string(), v.maxLength(200)) }).answers<void>(),
  /** No account is polled automatically for these minutes. */
  pausePolling: command({
    minutes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1440)),
  }).answers<void>(),
  resumePolling: command({}).answers<void>(),
  /**
   * The page's screen, and whether it has the focus: alerts about the visible content are not shown again. `unsaved`:
   * whether it has text that quitting would lose.
   */
  reportPlace: command({
    focused: v.boolean(),
    screen: v.pipe(v.string(), v.maxLength(32)),
    instance: v.optional(InstanceId),
    unsaved: v.optional(v.boolean()),
  }).answers<void>(),
  /** Opens a web address in the user's browser. */
  openLink: command({
    url: v.pipe(
      v.string(),
      v.maxLength(2048),
      v.url(),
      v.regex(/^https?:/i, 'only web addresses are opened'),
    ),
  }).answers<void>(),
  /**
   * Removes all that Berth wrote outside of its own folder: its start at login, the handler of its links, the command
   * `berth`, and its line in the user's SSH config. For users who are about to uninstall it.
   */
  leaveDesktop: command({}).answers<void>(),
  /** The text of a file for another computer: settings, saved searches, accounts without keys. */
  exportBerth: command({}).answers<string>(),
  /** What importing that text would change; changes nothing. Throws `bad_export`. */
  planImport: command({ text: exported }).answers<ImportPlan>(),
  /** Imports it, as the user confirmed. Throws `bad_export`. */
  importBerth: command({ text: exported }).answers<void>(),
  /** Ends Berth. The desktop app asks first where something goes on costing or is lost; in a browser the page asks. */
  quit: command({}).answers<void>(),
  /** Shows the demo, and starts it first if necessary. */
  tryDemo: command({}).answers<void>(),
  /** Demo only: causes an event in its market. */
  demoEvent: command({
    event: v.picklist(demoEvents),
    instance: v.optional(InstanceId),
  }).answers<void>(),
  /** Demo only: plays a day with Berth in about a minute. Throws `story_under_way`. */
  playStory: command({}).answers<void>(),
  /** Ends it. Its instances stay as they are. */
  stopStory: command({}).answers<void>(),
  /** Demo only: the last code that a real service would have sent to the user, if any. */
  demoMessage: command({}).answers<DemoMessage | undefined>(),
}

/** Diagnostics and updates. */
export const updateCommands = {
  /** A text for Berth's maintainers: versions, settings, recent errors; no secrets. */
  diagnostics: command({}).answers<string>(),
  /** An error while the page was drawn. */
  reportPageError: command({
    screen: v.pipe(v.string(), v.maxLength(64)),
    error: v.pipe(v.string(), v.maxLength(2_000)),
  }).answers<void>(),
  /** The update commands throw `no_updates` if no update address is set. */
  checkForUpdate: command({}).answers<void>(),
  fetchUpdate: command({}).answers<void>(),
  /** Ends Berth, after the usual questions, and starts the new version. */
  installUpdate: command({}).answers<void>(),
}
