import { isCharged } from '#contract/reading.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import type { AccountView } from '#contract/state.ts'

/** The consequences of removing an account, as sentences for the question whether to do so. */
export function removalNotes(account: AccountView): string[] {
  const notes = [
    `Berth forgets ${account.name} on this computer, with its API key and its SSH key. The account itself stays.`,
  ]
  const count = Object.keys(account.instances).length
  const which = count === 1 ? 'Its instance goes' : `Its ${count} instances go`
  if (count > 0 && Object.values(account.instances).some(isCharged)) {
    notes.push(
      `${which} on costing ${costOf(Object.values(account.instances))}, and Berth will not warn about it any more. Destroy them first if they are not needed.`,
    )
  } else if (count > 0) {
    notes.push(`${which} on, and Berth will not watch over ${count === 1 ? 'it' : 'them'} any more.`)
  } else if (account.connection.status !== 'online') {
    notes.push('Berth cannot see now whether it rents anything: what it rents goes on costing.')
  } else {
    notes.push('It rents nothing now.')
  }
  const underWay = Object.values(account.rentals).filter(({ step }) =>
    ['asking', 'lost', 'unclear', 'waiting', 'late'].includes(step),
  ).length
  if (underWay > 0) {
    notes.push(
      `${underWay === 1 ? 'A rental is' : `${underWay} rentals are`} under way: what it gets is charged, and not shown here.`,
    )
  }
  const leases = Object.values(account.watchdogs).filter(
    ({ request, foreign, step }) => request.lease !== undefined && !foreign && step !== 'lost',
  )
  for (const action of ['stop', 'destroy'] as const) {
    const ids = leases
      .filter(({ request }) => request.action === action)
      .map(({ instance }) => `#${instance}`)
    if (ids.length > 0) {
      notes.push(
        `Berth will not renew the lease of the watchdog on ${ids.join(', ')} any more: once it lapses, the watchdog ${action === 'stop' ? 'stops the instance' : 'destroys the instance and all that is on it'}. Remove the watchdog first if that is not wanted.`,
      )
    }
  }
  return notes
}
