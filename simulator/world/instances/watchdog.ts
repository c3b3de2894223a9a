/**
 * An owner's program on an instance that stops or destroys it with the instance's own key. The scripted shell runs no
 * programs, so the simulator does what its configuration says.
 */
export interface Watchdog {
  /** As written, with a name and a value on each line. */
  readonly config: string
  readonly action: 'stop' | 'destroy'
  /** Epoch seconds. */
  readonly at: number | undefined
  readonly idle: { readonly seconds: number /** % */; readonly below: number } | undefined
  /** Seconds that it waits for another lease. */
  readonly lease: number | undefined
  leaseText: string
  /** World milliseconds, here and below. */
  leasedAt: number
  idleSince: number | undefined
  /** From when it may act on its time, which came while the instance was not running. */
  timeFrom: number
  /** It came so long before that start that the instance is only stopped. */
  belated: boolean
  /** The time up to which it has checked. */
  checkedAt: number
  /** Its last action. */
  did: { readonly at: number; readonly why: Why; readonly action: Watchdog['action'] } | undefined
  readonly log: string[]
}

type Why = 'time' | 'idle' | 'lease'

/** World milliseconds between its checks. */
const tick = 10_000
/** World milliseconds of checks that it makes up for at most when time leaps. */
const longest = 2 * 86_400_000

export function placeWatchdog(config: string, leaseText: string, now: number): Watchdog {
  const values = new Map(config.split('\n').map(line => [line.split('=', 1)[0], line.replace(/^[^=]*=/, '')]))
  const number = (name: string) => (values.has(name) ? Number(values.get(name)) : undefined)
  const idle = number('idle')
  const watchdog: Watchdog = {
    config,
    action: values.get('action') === 'destroy' ? 'destroy' : 'stop',
    at: number('at'),
    idle: idle === undefined ? undefined : { seconds: idle, below: number('below') ?? 5 },
    lease: number('lease'),
    leaseText,
    leasedAt: now,
    idleSince: undefined,
    timeFrom: 0,
    belated: false,
    checkedAt: now,
    did: undefined,
    log: [],
  }
  note(watchdog, now, `watching instance ${values.get('instance') ?? '?'}`)
  return watchdog
}

/** The watchdog's configuration in a start script, if that installs one. */
export function configInScript(onstart: string): string | undefined {
  if (!onstart.includes('# >>> berth watchdog')) return undefined
  const values = onstart.matchAll(/'([a-z_]+=[^']*)'/g)
  return [...values].map(([, line]) => line).join('\n')
}

/** Its report. */
export function watchdogReport(
  { config, idle, idleSince, lease, leasedAt, did, log }: Watchdog,
  now: number,
) {
  const since = (from: number) => Math.round((now - from) / 1000)
  return {
    config,
    state: [
      `now=${Math.floor(now / 1000)}`,
      ...(idle && idleSince !== undefined ? [`idle_for=${since(idleSince)}`] : []),
      ...(lease === undefined ? [] : [`leased_for=${since(leasedAt)}`]),
    ],
    did: did && `${Math.floor(did.at / 1000)} ${did.action} ${did.why}`,
    log,
  }
}

export function renewLease(watchdog: Watchdog, text: string, now: number): void {
  if (text === '' || text === watchdog.leaseText) return
  watchdog.leaseText = text
  watchdog.leasedAt = now
}

/** Milliseconds in which Berth may change a time that came while the instance was not running, and after which it stops. */
const late = { grace: 300_000, stops: 900_000 }

/** Restarts its counting after the instance has started. */
export function restart(watchdog: Watchdog, now: number): void {
  watchdog.leasedAt = now
  watchdog.checkedAt = now
  watchdog.idleSince = undefined
  const since = now - (watchdog.at ?? Number.POSITIVE_INFINITY) * 1000
  watchdog.belated = since > late.stops
  if (since >= 0) watchdog.timeFrom = now + late.grace
}

/** The time up to now at which it acts on an instance that has run since its last check; undefined if it does not. */
export function actedAt(
  watchdog: Watchdog,
  now: number,
  loadAt: (time: number) => number,
): number | undefined {
  const { idle } = watchdog
  for (let time = Math.max(watchdog.checkedAt, now - longest); ; time = Math.min(now, time + tick)) {
    if (idle && loadAt(time) >= idle.below) watchdog.idleSince = undefined
    else watchdog.idleSince ??= time
    const why = reason(watchdog, time)
    watchdog.checkedAt = time
    if (why) {
      const action = why === 'time' && watchdog.belated ? 'stop' : watchdog.action
      watchdog.did = { at: time, why, action }
      note(watchdog, time, `${sentences[why]}: ${action}`)
      return time
    }
    if (time >= now) return undefined
  }
}

const sentences: Record<Why, string> = {
  time: 'its time has come',
  idle: 'no load for as long as it was to wait',
  lease: 'Berth has not renewed the lease',
}

function reason(
  { at, did, idle, idleSince, lease, leasedAt, timeFrom }: Watchdog,
  time: number,
): Why | undefined {
  // A set time applies once.
  if (at !== undefined && time >= Math.max(at * 1000, timeFrom) && (did?.at ?? 0) < at * 1000) return 'time'
  if (idle && idleSince !== undefined && time - idleSince >= idle.seconds * 1000) return 'idle'
  return lease !== undefined && time - leasedAt >= lease * 1000 ? 'lease' : undefined
}

function note(watchdog: Watchdog, at: number, text: string): void {
  watchdog.log.push(`${Math.floor(at / 1000)} ${text}`)
}
