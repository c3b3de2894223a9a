import * as v from 'valibot'
import { type DemoMessage, demoEvents } from '../../app/demo-events.ts'
import { ChangeableSettings } from '../../app/settings.ts'
import { InstanceId } from '../../ids.ts'
import type { ActivityEntry } from '../../state.ts'
import { command } from '../command.ts'

/** About Berth itself rather than the service. */
export const appCommands = {
  changeSettings: command({ settings: ChangeableSettings }).answers<void>(),
  /** Newest first; `before` is the id of the entry to go on from. */
  searchActivity: command({
    text: v.pipe(v.string(), v.maxLength(200)),
    before: v.optional(v.pipe(v.string(), v.maxLength(64))),
    limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500)),
  }).answers<readonly ActivityEntry[]>(),
  /** A notice of the page was clicked, on its text or on one of its buttons. */
  answerNotice: command({
    id: v.pipe(v.string(), v.maxLength(200)),
    action: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  dismissNotice: command({ id: v.pipe(v.string(), v.maxLength(200)) }).answers<void>(),
  /** For so many minutes no account is polled by itself. */
  pausePolling: command({
    minutes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1440)),
  }).answers<void>(),
  resumePolling: command({}).answers<void>(),
  /** What this page shows, and whether the user has it before them: alerts about just that are not told again. */
  reportPlace: command({
    focused: v.boolean(),
    screen: v.pipe(v.string(), v.maxLength(32)),
    instance: v.optional(InstanceId),
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
  /** Begins the demo where it has not begun, and shows it. */
  tryDemo: command({}).answers<void>(),
  /** The demo alone: makes something happen in its market. */
  demoEvent: command({
    event: v.picklist(demoEvents),
    instance: v.optional(InstanceId),
  }).answers<void>(),
  /** The demo alone: plays a day with Berth in about a minute. Throws `story_under_way`. */
  playStory: command({}).answers<void>(),
  /** The demo alone: the last code it would have sent to the user, if any. */
  demoMessage: command({}).answers<DemoMessage | undefined>(),
}
