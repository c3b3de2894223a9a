import type { Alert } from '#core/notifications/alert.ts'
import {
  blindAlert,
  type GuardScene,
  guardDoneAlert,
  heldAlert,
  missedAlert,
  warningAlert,
} from '../alerts/alerts.ts'
import type { GuardDecision } from '../decide/guard-actions.ts'
import { type Guard, withEvent, withoutWarning } from '../model.ts'
import { guardBlind, guardHeld, guardMissed, guardOver, guardWarned } from './outcomes.ts'

/** A guard's new state after a poll, and its alert; without one, an earlier alert is withdrawn. */
export interface Transition {
  guard: Guard
  alert?: Alert
}

/** The transition of a decision that needs no request. Undefined if nothing changes yet. */
export function transitionOf(decision: GuardDecision, scene: GuardScene): Transition | undefined {
  const { guard } = decision
  const { now } = scene
  switch (decision.kind) {
    case 'warn': {
      const { dueAt, targets } = decision
      return { guard: guardWarned(guard, dueAt, now), alert: warningAlert(scene, guard, dueAt, targets) }
    }
    case 'hold':
      return { guard: guardHeld(guard, decision, now), alert: heldAlert(scene, guard, decision) }
    case 'missed':
      return {
        guard: guardMissed(guard, decision.dueAt, now),
        alert: missedAlert(scene, guard, decision.dueAt),
      }
    case 'blind':
      return {
        guard: guardBlind(guard, decision.problem, now),
        alert: blindAlert(scene, guard, decision.problem),
      }
    case 'sees':
      return { guard: withEvent(guard, now, 'Its GPU load can be read again') }
    case 'calm':
      return { guard: withoutWarning(guard) }
    case 'over':
      return over(guard, scene, 'Over: it was stopped already')
    case 'gone':
      return over(guard, scene, 'Over: its instance is gone')
    default:
      return undefined
  }
}

/** The end of a guard with nothing left to act on. What it began is told here: the answer was lost, or Berth was killed. */
function over(guard: Guard, scene: GuardScene, why: string): Transition {
  const { instance, action, begunAt } = guard
  const ended = { guard: guardOver(guard, scene.now, why) }
  if (begunAt === undefined || instance === undefined) return ended
  return { ...ended, alert: guardDoneAlert(scene, guard, [{ instance, action }], undefined) }
}
