import { setTimeout as pause } from 'node:timers/promises'
import { isFailingOver } from '../../../electron/contract/automation/failover.ts'
import { hasEnded } from '../../../electron/contract/automation/guard.ts'
import type { AccountView } from '../../../electron/contract/state.ts'
import type { Living } from './live-days.ts'

/** Real milliseconds that what is under way may take to end, once the weather is fair. */
const patience = 40_000

/** Ends what would begin anew by itself, and waits until nothing is under way. */
export async function settle(living: Living): Promise<void> {
  const { lives, broken } = living
  const berth = lives.now
  const account = await seen(living)
  for (const watch of Object.keys(account.watches)) await berth.run('deleteWatch', { watch })
  for (const { id, instance, ...guard } of Object.values(account.guards))
    if (instance === undefined && !hasEnded(guard)) await berth.run('removeGuard', { guard: id })
  const until = performance.now() + patience
  for (;;) {
    const now = await seen(living)
    const left = underWay(now)
    if (left.length === 0) return
    if (performance.now() > until) {
      broken.push(`still under way at the end: ${left.join(', ')}`)
      return
    }
    await help(living, now)
    await pause(100)
  }
}

/** What only the user can end. What has gone meanwhile needs no help. */
async function help({ lives: { now: berth } }: Living, account: AccountView): Promise<void> {
  const ignore = () => undefined
  for (const { id, step } of Object.values(account.rentals)) {
    if (step === 'late') await berth.run('cancelRental', { rental: id }).catch(ignore)
    if (step === 'unclear') await berth.run('settleRental', { rental: id, instance: null }).catch(ignore)
  }
  for (const [id, { choice }] of Object.entries(account.recoveries))
    if (choice.kind !== 'tell' && account.instances[id])
      await berth.run('chooseRecovery', { instance: Number(id), choice: { kind: 'tell' } }).catch(ignore)
}

function underWay({ rentals, failovers, recoveries, guards, connection }: AccountView): string[] {
  return [
    ...(connection.status === 'online' ? [] : [`the account is ${connection.status}`]),
    ...Object.values(rentals).flatMap(({ id, step }) =>
      step === 'failed' ? [] : [`rental ${id} (${step})`],
    ),
    ...Object.values(failovers).flatMap(one =>
      isFailingOver(one) ? [`failover ${one.id} (${one.step})`] : [],
    ),
    ...Object.entries(recoveries).flatMap(([id, { step }]) =>
      step === 'raising' || step === 'replacing' ? [`recovery of #${id} (${step})`] : [],
    ),
    ...Object.values(guards).flatMap(({ id, step }) =>
      step === 'acting' || step === 'held' ? [`guard ${id} (${step})`] : [],
    ),
  ]
}

async function seen({ lives }: Living): Promise<AccountView> {
  await lives.now.run('refresh', {})
  const account = await lives.now.account()
  if (!account) throw new Error('the account is gone')
  return account
}
