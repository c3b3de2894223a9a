import type { Alert } from '#core/notifications/alert.ts'
import {
  blindAlert,
  heldAlert,
  type LimitScene,
  limitDoneAlert,
  missedAlert,
  warningAlert,
} from '../alerts/alerts.ts'
import type { LimitDecision } from '../decide/limit-actions.ts'
import { type Limit, withEvent, withoutWarning } from '../model.ts'
import { limitBlind, limitHeld, limitMissed, limitOver, limitWarned } from './outcomes.ts'

/** A limit's new state after a poll, and its alert; without one, an earlier alert is withdrawn. */
export interface Transition {
  limit: Limit
  alert?: Alert
}

/** The transition of a decision that needs no request. Undefined if nothing changes yet. */
export function transitionOf(decision: LimitDecision, scene: LimitScene): Transition | undefined {
  const { limit } = decision
  const { now } = scene
  switch (decision.kind) {
    case 'warn': {
      const { dueAt, targets } = decision
      return { limit: limitWarned(limit, dueAt, now), alert: warningAlert(scene, limit, dueAt, targets) }
    }
    case 'hold':
      return { limit: limitHeld(limit, decision, now), alert: heldAlert(scene, limit, decision) }
    case 'missed':
      return {
        limit: limitMissed(limit, decision.dueAt, now),
        alert: missedAlert(scene, limit, decision.dueAt),
      }
    case 'blind':
      return {
        limit: limitBlind(limit, decision.problem, now),
        alert: blindAlert(scene, limit, decision.problem),
      }
    case 'sees':
      return { limit: withEvent(limit, now, 'Its GPU load can be read again') }
    case 'calm':
      return { limit: withoutWarning(limit) }
    case 'over':
      return over(limit, scene, 'Over: it was stopped already')
    case 'gone':
      return over(limit, scene, 'Over: its instance is gone')
    default:
      return undefined
  }
}

/** The end of a limit with nothing left to act on. What it began is told here: the answer was lost, or Berth was killed. */
function over(limit: Limit, scene: LimitScene, why: string): Transition {
  const { instance, action, begunAt } = limit
  const ended = { limit: limitOver(limit, scene.now, why) }
  if (begunAt === undefined || instance === undefined) return ended
  return { ...ended, alert: limitDoneAlert(scene, limit, [{ instance, action }], undefined) }
}
