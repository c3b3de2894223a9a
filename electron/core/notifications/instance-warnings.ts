import { shortInstanceName } from '#contract/format/name.ts'
import { atMoment } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { contractEndsIn, diskNearlyFull, diskUse } from '#contract/reading.ts'
import type { AccountView } from '#contract/state.ts'
import type { Alert } from './alert.ts'
import type { AlertedState } from './alerted.ts'

/** The warnings that were sent about instances, apart from their state. */
type AlertedWarnings = Pick<AlertedState, 'contractEnds' | 'fullDisks'>

/** A full disk counts as relieved below this share, so that fluctuations do not repeat the warning. */
const diskRelieved = 0.85
/** Seconds by which a contract's end may vary and still be the same one. */
const sameEnd = 3600

/**
 * Warnings that a contract ends or a disk fills up. Each is sent once; a contract's end again where it was postponed, a
 * disk again after it had room. `at`: epoch seconds of the account's time.
 */
export function instanceWarnings(
  alerted: AlertedWarnings,
  instances: readonly InstanceView[],
  account: Pick<AccountView, 'id' | 'priceIncreases'>,
  at: number,
): { alerts: Alert[]; alerted: Required<AlertedWarnings> } {
  const alerts: Alert[] = []
  const contractEnds: Record<string, number> = {}
  const fullDisks: number[] = []
  const alertedFull = new Set(alerted.fullDisks)
  for (const instance of instances) {
    const increase = account.priceIncreases[instance.id]
    const alertedEnd = stillAlertedEnd(alerted.contractEnds?.[instance.id], instance)
    const isNear = contractEndsIn(instance, at) !== undefined && increase?.accepted === undefined
    const end = alertedEnd ?? (isNear ? instance.endsAt : undefined)
    if (end !== undefined) contractEnds[instance.id] = end
    if (end !== undefined && alertedEnd === undefined)
      alerts.push(
        contractAlert(instance, end, { account: account.id, increased: increase !== undefined, at }),
      )

    const use = diskUse(instance)
    const wasFull = alertedFull.has(instance.id)
    if (use === undefined ? wasFull : use >= (wasFull ? diskRelieved : diskNearlyFull)) {
      fullDisks.push(instance.id)
      if (!wasFull && use !== undefined) alerts.push(diskAlert(instance, use, account.id))
    }
  }
  return { alerts, alerted: { contractEnds, fullDisks } }
}

/** The end that was warned of, unless it was postponed since. */
function stillAlertedEnd(alerted: number | undefined, { endsAt }: InstanceView): number | undefined {
  const putOff = alerted !== undefined && endsAt !== undefined && Math.abs(alerted - endsAt) > sameEnd
  return putOff ? undefined : alerted
}

/** Whether a warning still applies. */
export function warningHolds({ kind, instance }: Alert, alerted: AlertedWarnings): boolean {
  if (instance === undefined) return true
  if (kind === 'contractEnd') return alerted.contractEnds?.[instance] !== undefined
  if (kind === 'diskFull') return alerted.fullDisks?.includes(instance) ?? false
  return true
}

function contractAlert(
  instance: InstanceView,
  end: number,
  { account, increased, at }: { account: string; increased: boolean; at: number },
): Alert {
  const advice = increased
    ? 'To keep it, accept its host’s new prices. Otherwise copy the files that you need.'
    : 'Copy the files that you need.'
  return {
    ...warning('contractEnd', instance.id, account),
    title: `The contract of ${shortInstanceName(instance)} ends ${atMoment(end, at)}`,
    body: `Then it stops and cannot start again; its data may be deleted 48 hours later. ${advice}`,
  }
}

function diskAlert(instance: InstanceView, use: number, account: string): Alert {
  const alert = warning('diskFull', instance.id, account)
  return {
    ...alert,
    title: `The disk of ${shortInstanceName(instance)} is ${Math.floor(use * 100)} % full`,
    body: 'Programs that write to a full disk fail, and the disk can’t grow: delete files, or copy them elsewhere.',
    place: { screen: 'instances', instance: instance.id, tab: 'files' },
  }
}

/** Warnings have ids of their own, so that they do not replace alerts about the instance's state. */
function warning(kind: 'contractEnd' | 'diskFull', instance: number, account: string) {
  return {
    id: `${account}/${instance}/${kind}`,
    kind,
    instance,
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances', instance },
  } satisfies Partial<Alert>
}
