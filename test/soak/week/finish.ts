import { isTrying } from '../../../electron/contract/automation/attempts.ts'
import { hasEnded } from '../../../electron/contract/automation/guard.ts'
import type { AccountView } from '../../../electron/contract/state.ts'
import type { Living } from './live-days.ts'

/** Seconds of world time for pending work to end once there are no faults. */
const patience = 6 * 3600
const betweenHelp = 120

/** Removes watches and guards on the account, and waits until nothing is under way. Berth is not killed any more. */
export async function finish(living: Living): Promise<void> {
  const { lives, pace, sim, broken } = living
  sim.controls.setFaults([])
  if (living.deployments) sim.controls.setDeployment({ deployment: 'public' })
  while (!lives.now.isAlive || lives.now.isDoomed) await pace.until(pace.now + 60_000)
  const berth = lives.now
  const account = await seen(living)
  for (const watch of Object.keys(account.watches)) await pace.through(berth.run('deleteWatch', { watch }))
  for (const { id, instance, ...guard } of Object.values(account.guards))
    if (instance === undefined && !hasEnded(guard))
      await pace.through(berth.run('removeGuard', { guard: id }))
  const until = pace.now + patience * 1000
  for (;;) {
    const now = await seen(living)
    const left = underWay(now)
    if (left.length === 0) return
    if (pace.now > until) {
      broken.push(`still under way at the end: ${left.join(', ')}`)
      return
    }
    await help(living, now)
    await pace.until(pace.now + betweenHelp * 1000)
  }
}

/** Ends what only the user can end, and ignores refusals. */
async function help({ lives: { now: berth }, pace }: Living, account: AccountView): Promise<void> {
  const tried = (work: Promise<unknown>) => pace.through(work.catch(() => undefined))
  for (const { id, step } of Object.values(account.rentals)) {
    if (step === 'late') await tried(berth.run('cancelRental', { rental: id }))
    if (step === 'unclear') await tried(berth.run('resolveRental', { rental: id, instance: null }))
  }
  for (const [id, { choice }] of Object.entries(account.recoveries))
    if (choice.kind !== 'tell' && account.instances[id])
      await tried(berth.run('chooseRecovery', { instance: Number(id), choice: { kind: 'tell' } }))
}

function underWay({ rentals, attempts, recoveries, guards, connection }: AccountView): string[] {
  return [
    ...(connection.status === 'online' ? [] : [`the account is ${connection.status}`]),
    ...Object.values(rentals).flatMap(({ id, step }) =>
      step === 'failed' ? [] : [`rental ${id} (${step})`],
    ),
    ...Object.values(attempts).flatMap(one =>
      isTrying(one) ? [`attemptSeries ${one.id} (${one.step})`] : [],
    ),
    ...Object.entries(recoveries).flatMap(([id, { step }]) =>
      step === 'raising' || step === 'replacing' ? [`recovery of #${id} (${step})`] : [],
    ),
    ...Object.values(guards).flatMap(({ id, step }) =>
      step === 'acting' || step === 'held' ? [`guard ${id} (${step})`] : [],
    ),
  ]
}

async function seen({ lives, pace }: Living): Promise<AccountView> {
  await pace.through(lives.now.run('refresh', {}))
  const account = await lives.now.account()
  if (!account) throw new Error('the account is gone')
  return account
}
