import { beginAbsence } from './absence.ts'
import type { Moment } from './berth/messages.ts'
import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

/** Mean seconds between two kills. */
const betweenKills = 6000
/** Seconds after which a planned death is forced; creations are rarer than other moments. */
const longestWait = 900
const longestWaitForCreation = 3600

/**
 * Kills Berth again and again: between two polls, or exactly at a request, an answer or a write. Every third kill is at
 * the creation of an instance, before Berth knows it. The next kill is planned only while Berth lives.
 */
export function beginKilling(living: Living, chance: Chance): void {
  const { agenda, pace } = living
  agenda.add(pace.now + (chance.pause(betweenKills) / living.haste) * 1000, () => killOnce(living, chance))
}

function killOnce(living: Living, chance: Chance): Promise<void> | undefined {
  if (living.isOver) return undefined
  const { agenda, pace, lives, tally } = living
  const away = awayFor(chance) / living.haste
  const before = tally.of('kills')
  const isCreation = before % 3 === 0
  const how = isCreation
    ? before % 6 === 0
      ? 'created'
      : 'creating'
    : chance.pick<Moment | 'between'>([
        'between',
        'request',
        'request',
        'answer',
        'answer',
        'write',
        'writing',
        'written',
      ])
  const times = isCreation ? 1 : chance.integer(1, 12)
  const victim = lives.now
  let cameAt = how
  living.afterDeath = () => {
    tally.add('kills')
    tally.add(`kills at ${cameAt}`)
    beginAbsence(living, chance, away)
    agenda.add(pace.now + away * 1000, () => {
      living.begin()
      beginKilling(living, chance)
    })
  }
  if (how === 'between') return victim.kill()
  victim.dieAt(how, times)
  agenda.add(pace.now + ((isCreation ? longestWaitForCreation : longestWait) / living.haste) * 1000, () => {
    if (!victim.isAlive) return undefined
    cameAt = 'between'
    return victim.kill()
  })
  return undefined
}

/** Seconds until the next life: mostly a moment, sometimes the hours or the night of a closed laptop. */
function awayFor(chance: Chance): number {
  if (chance.happens(0.75)) return chance.between(0, 30)
  return chance.happens(0.85) ? chance.between(600, 3 * 3600) : chance.between(6 * 3600, 9 * 3600)
}
