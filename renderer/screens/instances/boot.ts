import { duration, moment } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { RentalView } from '#shared/market/rental-view.ts'

/** Percent of the image that is pulled, from a status message such as "pulling image: 64 %". */
export function pulledShare({ state, statusMessage }: InstanceView): number | undefined {
  if (state !== 'loading') return undefined
  const percent = /(\d{1,3})(?:\.\d+)?\s*%/.exec(statusMessage ?? '')?.[1]
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent)
}

/** The service's status message, unless it only has the image's progress or still belongs to a stop. */
export function bootLine(instance: InstanceView): string | undefined {
  const { actualStatus, statusMessage } = instance
  const stopped = actualStatus === 'stopped' || actualStatus === 'exited'
  return stopped || pulledShare(instance) !== undefined ? undefined : statusMessage
}

/** The present step of a boot, short enough for a column. */
export function bootWords(instance: InstanceView): string {
  if (instance.state === 'provisioning') return 'being created'
  const share = pulledShare(instance)
  return share === undefined ? 'image' : `image ${share}%`
}

/** When the present boot began (epoch seconds): the last start, else the creation. */
export function bootingSince({ history, startedAt }: InstanceView): number | undefined {
  const before = history.findLastIndex(({ state }) => !hasTrait(state, 'booting'))
  return before < 0 ? (startedAt ?? history[0]?.at) : history[before + 1]?.at
}

/** Seconds from an instance's creation until Berth first saw it, up to which its boot counts as seen whole. */
const seenAtOnce = 120

/** Seconds from an instance's creation until it first ran, where Berth saw both. */
export function bootTime({ startedAt, history }: InstanceView): number | undefined {
  const first = history[0]
  const ran = history.find(({ state }) => state === 'running')
  if (!first || !ran || !hasTrait(first.state, 'booting')) return undefined
  const from = startedAt ?? first.at
  return first.at - from > seenAtOnce ? undefined : ran.at - from
}

/** Seconds that boots of the same image took, as far as Berth saw them. */
function bootsOf(image: string | undefined, instances: readonly InstanceView[]): number[] {
  if (image === undefined) return []
  return instances.filter(one => one.image === image).flatMap(one => bootTime(one) ?? [])
}

/**
 * How much longer a boot of this image usually takes: `about 4 min left`; both times once it takes longer than usual.
 * Undefined where Berth saw no such boot. `now`: epoch seconds of the account's time.
 */
export function bootOutlook(
  instance: InstanceView,
  instances: readonly InstanceView[],
  now: number,
): string | undefined {
  const boots = bootsOf(instance.image, instances).sort((a, b) => a - b)
  const usual = boots[Math.floor((boots.length - 1) / 2)]
  if (usual === undefined) return undefined
  const begun = bootingSince(instance) ?? now
  const left = usual - (now - begun)
  const took = boots.length === 1 ? 'the last one took' : 'usually'
  if (left <= 0) return `${took} ${roughly(usual)}, now ${roughly(now - begun)}`
  return `about ${roughly(left)} left: ${took} ${roughly(usual)}`
}

function roughly(seconds: number): string {
  return seconds < 60 ? 'a minute' : duration(Math.round(seconds / 60) * 60)
}

/** The first step of a boot, with the time of the creation. */
export function createdWords({ startedAt }: InstanceView, now: number): string {
  return startedAt === undefined ? 'created' : `created ${moment(startedAt, now)}`
}

interface Step {
  name: string
  current: boolean
}

/** The steps of a boot, with the present one. `entered`: SSH must answer, too. `now`: epoch seconds, account time. */
export function bootSteps(
  rental: Pick<RentalView, 'step'>,
  instance: InstanceView | undefined,
  { now, entered = false }: { now: number; entered?: boolean },
): Step[] {
  const at = !instance ? 0 : instance.state === 'running' ? 3 : instance.state === 'loading' ? 2 : 1
  const share = instance && pulledShare(instance)
  const requestText = rental.step === 'lost' ? 'answer lost, checking the account' : 'requesting'
  const created = instance ? createdWords(instance, now) : 'created'
  const steps = [
    ...(at === 0 ? [{ name: requestText, at: 0 }] : []),
    { name: at === 1 ? `${created}, provisioning` : created, at: 1 },
    { name: share === undefined ? 'image' : `image ${share}%`, at: 2 },
    { name: 'running', at: 3 },
    ...(entered ? [{ name: 'SSH answers', at: 4 }] : []),
  ]
  // A running instance that must be entered waits for SSH.
  const current = entered && at === 3 ? 4 : at
  return steps.map(step => ({ name: step.name, current: step.at === current }))
}
