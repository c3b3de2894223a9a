import type { Micros } from '../../contract/spending/money.ts'
import type { Cost, Counted } from './costs.ts'

/**
 * A host that is silent charges either the full price or the disk alone. The credit shows which of the two, but only
 * while nothing else is uncertain. The part that it charged then is remembered, and used when something else is.
 */

/** Parts below this count as 0, and above 1 minus this as 1: clocks are not exact. */
const wavering = 0.25

/** The costs, with silent hosts at the part they charged last, if that is known and something else is uncertain too. */
export function asRemembered(
  costs: ReadonlyMap<string, Cost>,
  { instances }: Counted,
): ReadonlyMap<string, Cost> {
  if (onlySilenceIsOpen(costs)) return costs
  return new Map(
    [...costs].map(([id, cost]) => {
      const part = cost.silent ? instances[id]?.part : undefined
      if (part === undefined) return [id, cost]
      const likely = cost.least + Math.round((cost.most - cost.least) * part)
      return [id, { ...cost, least: likely, most: likely, lowest: Math.min(cost.lowest, likely) }]
    }),
  )
}

/** `counted` with the part that each silent host charged: by its share now, or as before if that does not tell. */
export function withParts(
  counted: Counted,
  before: Counted,
  costs: ReadonlyMap<string, Cost>,
  shares: ReadonlyMap<string, Micros>,
): Counted {
  const onlySilence = onlySilenceIsOpen(costs)
  const instances = Object.entries(counted.instances).map(([id, one]) => {
    const cost = costs.get(id)
    if (!cost?.silent) return [id, one] as const
    const part = onlySilence ? partOf(cost, shares.get(id) ?? 0) : before.instances[id]?.part
    return [id, part === undefined ? one : { ...one, part }] as const
  })
  return { ...counted, instances: Object.fromEntries(instances) }
}

function onlySilenceIsOpen(costs: ReadonlyMap<string, Cost>): boolean {
  return [...costs.values()].every(({ silent, least, most }) => silent || least === most)
}

function partOf({ least, most }: Cost, share: Micros): number | undefined {
  if (most <= least) return undefined
  const part = Math.min(1, Math.max(0, (share - least) / (most - least)))
  if (part < wavering) return 0
  return part > 1 - wavering ? 1 : part
}
