import { rate } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import { duration } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import type { ActivityEntry } from '#shared/state.ts'
import type { HandedOver } from '#ssh/runs/hand-over.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { Departure } from './record.ts'
import type { Saved } from './step.ts'

type Entry = Omit<ActivityEntry, 'id' | 'at'>

function entry(account: AccountId, { instance }: Departure, text: string, detail: string): Entry {
  return { account, instance, kind: 'berth', text, detail }
}

/** `view`: the machine, whose disk is paid. `isBack`: it was gone, and is listed again. */
export function keptEntry(
  account: AccountId,
  departure: Departure,
  { diskPricePerHour }: InstanceView,
  isBack = false,
): Entry {
  const { name, instance, since, until, seconds } = departure
  const price = diskPricePerHour === undefined ? '' : ` Its disk costs ${rate(diskPricePerHour)}.`
  return entry(
    account,
    departure,
    isBack
      ? `#${instance} is listed again, which ${name} left, and is kept`
      : `Kept #${instance}, which ${name} left`,
    `Up to ${duration(seconds)} of its training is only there. It’s destroyed once that is copied, ` +
      `in ${duration(until - since)} at the latest.${price}`,
  )
}

/** Why a machine that a run left is stopped or destroyed. `isLost`: its time is over, with what only it has. */
export function leftCause(
  { instance, name, fate }: Pick<Departure, 'instance' | 'name' | 'fate'>,
  action: 'stop' | 'destroy',
  isLost = false,
) {
  const why =
    action === 'stop'
      ? 'It must not run beside the next one.'
      : isLost
        ? 'Its time was over.'
        : fate === 'brought'
          ? 'The next machine has its results.'
          : 'Nothing on it is needed.'
  const text = `${action === 'stop' ? 'Stopped' : 'Destroyed'} #${instance}, which ${name} left`
  return { kind: 'berth' as const, text, detail: why }
}

/** `left`: files that may be half, for which the machine is kept. `isOver`: so was the command. */
export function broughtEntry(
  account: AccountId,
  departure: Departure,
  {
    files,
    left,
    saved,
    way,
    isOver,
  }: { files: number; left: number; saved: Saved; way?: HandedOver; isOver: boolean },
  now: number,
): Entry {
  const { name, instance } = departure
  const half =
    left === 0
      ? ''
      : ` ${counted(left, 'file')} that ${left === 1 ? 'was' : 'were'} written just before it ended${
          way?.unnamed ? ', or whose name can’t be sent,' : ''
        } ${left === 1 ? 'stays' : 'stay'} there. ${keptWords(departure, now)}`
  const gain = `${saved.isUpTo ? 'up to ' : ''}${duration(saved.seconds)}`
  const over = isOver ? ' Its command had ended well there, and isn’t run again.' : ''
  return entry(
    account,
    departure,
    `Copied the results of ${name} from #${instance}`,
    `${counted(files, 'file')} newer than those downloaded, ${wayWords(way)}: ${gain} of training saved.${half}${over}`,
  )
}

function keptWords({ until }: Departure, now: number): string {
  return `It’s kept for ${duration(Math.max(60, until - now))} more, if you want to copy them yourself.`
}

function wayWords(way: HandedOver | undefined): string {
  if (way === undefined) return 'copied by the service'
  return way.isDirect ? 'sent from machine to machine' : 'sent through this computer'
}

/** The machine that was to get the files. */
export const arrivalLost: Problem = {
  code: 'not_running',
  message: 'The machine on which the run goes on does not run.',
}

const reasons = {
  refused: 'The service doesn’t copy from a machine that is stopped.',
  failed: 'The service’s copy didn’t end in time, failed, or shows no command that began there.',
  torn: 'They were written just before it ended, so they may not be whole.',
} as const

export function notBroughtEntry(
  account: AccountId,
  departure: Departure,
  fate: keyof typeof reasons,
  now: number,
): Entry {
  const { name, instance } = departure
  return entry(
    account,
    departure,
    `${name} continues without the newest results of #${instance}`,
    `${reasons[fate]} ${keptWords(departure, now)}`,
  )
}

/** A machine was destroyed at the end of its time, with what only it had. */
export function lostDepartureAlert(account: AccountId, { instance, name, seconds }: Departure): Alert {
  return alertOf('machineDestroyed', {
    id: `${account}/departure/${instance}`,
    title: `#${instance} is destroyed, which ${name}`.slice(0, 42).trimEnd().concat(' left'),
    body: `Its time was over. Up to ${duration(seconds)} of training was only there.`,
  })
}
