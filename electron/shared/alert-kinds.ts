import * as v from 'valibot'

/** The kinds of alerts, each with a switch in the settings: a name, and when one comes. */
export const alertKinds = {
  lowCredit: { label: 'Low credit', hint: 'Once each time it falls below.' },
  outbid: { label: 'Outbid', hint: 'Someone bids more, and the instance stops.' },
  ready: { label: 'Ready', hint: 'A machine you rented is running.' },
  rentedElsewhere: {
    label: 'Rented elsewhere',
    hint: 'An instance appears that this Berth didn’t rent. Of those of another Berth only the first is told.',
  },
  halted: {
    label: 'Stopped or waiting',
    hint: 'A start is waiting for its GPU, or the service stopped an instance: no credit, or its contract ended.',
  },
  crashed: { label: 'Crashed', hint: 'The container exited, or can’t start.' },
  hostGone: {
    label: 'Host gone',
    hint: 'The machine is offline or silent, or an instance is no longer on the account.',
  },
  contractEnd: { label: 'Contract ends', hint: 'An instance’s contract ends within 24 hours.' },
  maintenance: { label: 'Maintenance', hint: 'A host announces work on an instance’s machine.' },
  priceIncrease: { label: 'Price increase', hint: 'A host asks for higher prices.' },
  diskFull: { label: 'Disk nearly full', hint: 'An instance uses 90% of its disk.' },
  attempts: {
    label: 'Renting with retries',
    hint: 'Berth dropped a host and tried the next, or none is left.',
  },
  recovery: {
    label: 'Recovery',
    hint: 'After you were outbid, Berth raised the bid or rented elsewhere.',
  },
  limit: { label: 'Limits', hint: 'A limit is about to act, has acted, or could not.' },
  run: { label: 'Runs', hint: 'A command has ended, or seems stuck.' },
  watch: { label: 'Watches', hint: 'A new offer matches a watched search.' },
} as const satisfies Record<string, { label: string; hint: string }>

export type AlertKind = keyof typeof alertKinds

export const AlertKinds = v.picklist(Object.keys(alertKinds) as AlertKind[])

/** A value for each kind. */
export function eachAlertKind<Value>(value: Value): Record<AlertKind, Value> {
  return Object.fromEntries(Object.keys(alertKinds).map(kind => [kind, value])) as Record<AlertKind, Value>
}
