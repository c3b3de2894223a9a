import { limitsSet } from '#shared/automation/limit.ts'
import { listed, watchdogWords } from '#shared/automation/limit-words.ts'
import { isGoing, isProjectRun } from '#shared/automation/run.ts'
import { isCharged } from '#shared/derived.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import { costOf } from '#shared/spending/spend-words.ts'
import type { AccountView } from '#shared/state.ts'

/** The consequences of removing an account, as sentences for the question whether to do so; `now` in its epoch seconds. */
export function removalNotes(account: AccountView, now: number): string[] {
  const notes = [
    `Removes ${account.name}, its API key and its SSH key from this computer. The account itself stays.`,
  ]
  const count = Object.keys(account.instances).length
  const which = count === 1 ? 'Its instance keeps' : `Its ${count} instances keep`
  if (count > 0 && Object.values(account.instances).some(isCharged)) {
    notes.push(
      `${which} costing ${costOf(Object.values(account.instances))}, and Berth won’t warn you. ` +
        'Destroy them first if you don’t need them.',
    )
  } else if (count > 0) {
    notes.push(`${which} running, and Berth won’t watch ${count === 1 ? 'it' : 'them'}.`)
  } else if (account.connection.status !== 'online') {
    notes.push('Berth can’t see whether it has instances: if so, you keep paying for them.')
  } else {
    notes.push('It has no instances.')
  }
  const underWay = Object.values(account.rentals).filter(isRenting).length
  if (underWay > 0) {
    notes.push(
      `${underWay === 1 ? 'A rental is' : `${underWay} rentals are`} in progress: ` +
        'you’ll pay for the instance, and it won’t be shown here.',
    )
  }
  const forgotten = [...runNotes(account), ...limitNotes(account, now)]
  notes.push(...forgotten)
  if (forgotten.length > 0) notes.push('If its key gives trouble, Replace key… keeps all of that.')
  const leases = limitsSet([account]).filter(({ when }) => when.kind === 'away')
  for (const action of ['stop', 'destroy'] as const) {
    const ids = leases.filter(limit => limit.action === action).map(({ instance }) => `#${instance}`)
    if (ids.length > 0) {
      notes.push(
        `Berth won’t renew the lease of the watchdog on ${ids.join(', ')}: when it expires, the watchdog ${
          action === 'stop' ? 'stops the instance' : 'destroys the instance and everything on it'
        }. Remove its limit first if you don’t want that.`,
      )
    }
  }
  return notes
}

/** What becomes of its runs. */
function runNotes({ runs }: AccountView): string[] {
  const namesOf = (some: readonly { name: string }[]) => listed(some.map(({ name }) => name))
  const all = Object.values(runs)
  const going = all.filter(isGoing)
  const kept = all.filter(isProjectRun).filter(({ step, keptUntil }) => step === 'failed' && keptUntil)
  return [
    ...(going.length > 0
      ? [`Berth gives up ${namesOf(going)}: what isn’t downloaded stays there, and nothing ends with it.`]
      : []),
    ...(kept.length > 0 ? [`It no longer reminds you of what it keeps for ${namesOf(kept)}.`] : []),
  ]
}

/** What becomes of its limits, also if it's connected again. */
function limitNotes(account: AccountView, now: number): string[] {
  const limits = limitsSet([account]).length
  const own = Object.values(account.watchdogs).filter(({ step, foreign }) => step === 'watching' && !foreign)
  return [
    ...(limits > 0 ? [`${limits === 1 ? 'Its limit is' : `Its ${limits} limits are`} forgotten.`] : []),
    ...own.flatMap(({ instance, request }) => {
      const on = account.instances[instance]
      return on
        ? `The watchdog on ${shortInstanceName(on)} stays, and can’t be changed: “${watchdogWords(request, now)}”`
        : []
    }),
  ]
}
