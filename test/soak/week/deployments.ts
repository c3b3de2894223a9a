import { choices, type Profile } from '../../../simulator/deployment/profile.ts'
import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

type Deployment = Partial<Profile>

/**
 * How instances are listed. Each tells the truth about a single one. An old list in pages without the new one beside it
 * is not among them: pages came with the new list, and a cut that nothing tells, of instances nobody knew, shows nowhere.
 */
const lists: readonly [Deployment, ...Deployment[]] = [
  {},
  { page: 2 },
  { list: 'v0', v1: '404' },
  { list: 'v0-paged', page: 2 },
  { list: 'v0-200-deprecated' },
  { list: 'v0-success-false' },
  { list: 'v0-empty' },
  { list: 'v0-empty', v1: '404' },
  { v1: 'repeats' },
]

/** Seconds between two deployments, on average. */
const betweenFaces = 180

/** The deployment is now the one, now the other, and never says so. */
export function beginChanging(living: Living, chance: Chance): void {
  const { sim, agenda, pace, tally } = living
  const change = () => {
    if (living.isOver) return
    agenda.add(pace.now + chance.pause(betweenFaces) * 1000, change)
    const deployment = aDeployment(chance)
    sim.controls.setDeployment({ ...deployment })
    tally.add('deployments')
    tally.add(`deployments with ${deployment.list ?? deployment.deployment} lists`)
    tally.add(`deployments with ${deployment.records ?? 'full'} records`)
  }
  change()
}

function aDeployment(chance: Chance): Deployment {
  if (chance.happens(0.15)) return { deployment: 'interface' }
  const one = <Choice>(some: readonly Choice[], otherwise: Choice) => chance.oneOf(some) ?? otherwise
  return {
    deployment: 'public',
    ...chance.pick(lists),
    single: one(choices.single, 'null'),
    limits: one(choices.limits, 'intervals'),
    refusal: one(choices.refusal, 'text'),
    records: chance.happens(0.5) ? 'full' : one(choices.records, 'full'),
    outbid: one(choices.outbid, 'running'),
  }
}
