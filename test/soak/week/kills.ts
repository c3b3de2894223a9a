import { beginAbsence } from './absence.ts'
import type { Moment } from './berth/messages.ts'
import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

/** Seconds between two kills, on average. */
const betweenKills = 7000
/** Seconds after which a death that was planned comes anyhow. */
const longestWait = 900

/**
 * Berth is killed again and again: between two looks, or at the very moment at which it asks, hears or writes
 * something. What is next is only planned while it lives.
 */
export function beginKilling(living: Living, chance: Chance): void {
  const { agenda, pace } = living
  agenda.add(pace.now + chance.pause(betweenKills) * 1000, () => killOnce(living, chance))
}

function killOnce(living: Living, chance: Chance): Promise<void> | undefined {
  if (living.isOver) return undefined
  const { agenda, pace, lives, tally } = living
  const away = awayFor(chance)
  const how = chance.pick<Moment | 'between'>([
    'between',
    'request',
    'request',
    'answer',
    'answer',
    'write',
    'writing',
    'written',
  ])
  const times = chance.integer(1, 12)
  tally.add('kills')
  tally.add(`kills at ${how}`)
  const victim = lives.now
  living.afterDeath = () => {
    beginAbsence(living, chance, away)
    agenda.add(pace.now + away * 1000, () => {
      living.begin()
      beginKilling(living, chance)
    })
  }
  if (how === 'between') return victim.kill()
  victim.dieAt(how, times)
  agenda.add(pace.now + longestWait * 1000, () => (victim.isAlive ? victim.kill() : undefined))
  return undefined
}

/** Seconds. Most come back at once; some days the laptop stays closed for hours, or for a night. */
function awayFor(chance: Chance): number {
  if (chance.happens(0.75)) return chance.between(0, 30)
  return chance.happens(0.85) ? chance.between(600, 3 * 3600) : chance.between(6 * 3600, 9 * 3600)
}
