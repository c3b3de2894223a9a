import { named } from './format/name.ts'
import type { Settings } from './settings.ts'

type Warning = Pick<
  Settings,
  | 'pollInterval'
  | 'lowCreditDollars'
  | 'lowCreditHours'
  | 'rentalDeadline'
  | 'alerts'
  | 'quietHours'
  | 'closeToTray'
  | 'tunnelsAtLoopback'
>
type Words = (now: Warning, after: Warning) => string | false

/** Which changes of settings make Berth see, tell or guard less, and the sentence about each. */
const table: readonly Words[] = [
  (now, after) => {
    const off = Object.entries(now.alerts).flatMap(([kind, on]) =>
      on && !after.alerts[kind as keyof Settings['alerts']] ? asWords(kind) : [],
    )
    return off.length > 0 && `Alerts are switched off: ${named(off, { most: off.length })}.`
  },
  (now, after) =>
    warns(now.lowCreditDollars, after.lowCreditDollars, dollars => `credit is below $${dollars}`),
  (now, after) =>
    warns(now.lowCreditHours, after.lowCreditHours, hours => `credit lasts less than ${hours} h`),
  ({ quietHours: now }, { quietHours: after }) =>
    after.on &&
    (!now.on || now.from !== after.from || now.to !== after.to) &&
    `Notifications wait from ${after.from} to ${after.to}.`,
  ({ quietHours: now }, { quietHours: after }) =>
    after.on &&
    !after.critical &&
    (now.critical || !now.on) &&
    'Critical notifications wait in quiet hours, too.',
  ({ pollInterval: now }, { pollInterval: after }) =>
    after > now &&
    `Accounts are checked every ${after} s instead of every ${now} s, and limits act that much later.`,
  ({ rentalDeadline: now }, { rentalDeadline: after }) =>
    after > now && `A rental that doesn’t run is told after ${after / 60} min instead of ${now / 60} min.`,
  (now, after) =>
    now.closeToTray && !after.closeToTray && 'Closing the window quits Berth, and limits don’t act any more.',
  (now, after) =>
    !now.tunnelsAtLoopback &&
    after.tunnelsAtLoopback &&
    'Pages of instances open at 127.0.0.1, where they share cookies that scripts can read.',
]

/** What is less safe after a change of settings, a sentence each. */
export function lessSafe(now: Warning, after: Warning): string[] {
  return table.flatMap(words => words(now, after) || [])
}

function warns(now: number, after: number, when: (amount: number) => string): string | false {
  if (after >= now) return false
  return after === 0
    ? `No warning any more when ${when(now)}.`
    : `The warning comes later: when ${when(after)} instead of ${now}.`
}

/** `low credit` for `lowCredit`. */
function asWords(kind: string): string {
  return kind.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
}
