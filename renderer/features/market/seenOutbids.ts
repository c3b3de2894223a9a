import { counted } from '#shared/format/size.ts'
import { duration } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'

/**
 * What the account's bids have met so far: `Seen: 3 outbids in 40 h of bids for RTX 4090.` Those for the same GPU, or for
 * all where none had it; undefined where nothing was seen. `now`: epoch seconds of the account's time.
 */
export function seenOutbids(
  instances: readonly InstanceView[],
  gpu: string | undefined,
  now: number,
): string | undefined {
  const bids = instances.filter(({ interruptible }) => interruptible)
  const alike = bids.filter(instance => gpu !== undefined && instance.gpu?.name === gpu)
  const same = outbidsOf(alike, now)
  const { outbids, seconds } = same.seconds > 0 ? same : outbidsOf(bids, now)
  if (seconds < 60) return undefined
  const what = same.seconds > 0 ? `bids for ${gpu}` : 'all your bids'
  return `Seen: ${outbids === 0 ? 'no outbid' : counted(outbids, 'outbid')} in ${duration(seconds)} of ${what}.`
}

/** The seconds that they ran in their histories, and how often another bid ended that. */
function outbidsOf(instances: readonly InstanceView[], now: number): { outbids: number; seconds: number } {
  let outbids = 0
  let seconds = 0
  for (const { history } of instances)
    history.forEach(({ state, at }, index) => {
      if (state === 'outbid') outbids += 1
      if (state === 'running') seconds += Math.max(0, (history[index + 1]?.at ?? now) - at)
    })
  return { outbids, seconds }
}
