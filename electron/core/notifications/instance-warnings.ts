import { instanceName } from '../../contract/format/name.ts'
import { atMoment } from '../../contract/format/time.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import { contractEndsIn, diskNearlyFull, diskUse } from '../../contract/reading.ts'
import type { AccountView } from '../../contract/state.ts'
import type { Alert } from './alert.ts'
import type { AlertedState } from './alerted.ts'

/** What was told of instances beside their state. */
type AlertedWarnings = Pick<AlertedState, 'contractEnds' | 'fullDisks'>

/** A full disk is forgotten once less than this part of it is used, so that it is not said at every wobble. */
const diskRelieved = 0.85
/** Seconds by which an end of a contract may be told differently and be the same. */
const sameEnd = 3600

/**
 * What is coming to instances that go on as they are: a contract ends, a disk fills up. Each is said once; the end again
 * where it was put off, a disk again once there was room in it. `at`: epoch seconds of the account's time.
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

/** The end that was alerted, unless it was put off since. */
function stillAlertedEnd(alerted: number | undefined, { endsAt }: InstanceView): number | undefined {
  const putOff = alerted !== undefined && endsAt !== undefined && Math.abs(alerted - endsAt) > sameEnd
  return putOff ? undefined : alerted
}

/** Whether what a warning said is still so. */
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
    ? 'Accept the new prices of its host to keep it, or copy what you need.'
    : 'Copy what you need.'
  return {
    ...warning('contractEnd', instance.id, account),
    title: `The contract of ${instanceName(instance)} ends ${atMoment(end, at)}`,
    body: `Then it stops and cannot start again; its data may be deleted 48 hours later. ${advice}`,
  }
}

function diskAlert(instance: InstanceView, use: number, account: string): Alert {
  const alert = warning('diskFull', instance.id, account)
  return {
    ...alert,
    title: `The disk of ${instanceName(instance)} is ${Math.floor(use * 100)} % full`,
    body: 'What writes to a full disk fails, and a disk cannot grow: delete what is not needed, or copy it elsewhere.',
    place: { screen: 'instances', instance: instance.id, tab: 'files' },
  }
}

/** With an id of its own: it does not take the place of what was said of the instance's state. */
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
