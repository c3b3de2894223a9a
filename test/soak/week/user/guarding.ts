import { hasEnded, snoozes } from '../../../../electron/contract/automation/guard.ts'
import type { GuardRequest } from '../../../../electron/contract/automation/guard-kinds.ts'
import type { RecoveryChoice } from '../../../../electron/contract/automation/recovery.ts'
import { anInstance, type Hand, type UserAction } from './hand.ts'

export const guarding: readonly UserAction[] = [
  {
    name: 'guards',
    weight: 9,
    do(hand) {
      const { berth, account } = hand
      const guards = Object.values(account.guards).filter(guard => !hasEnded(guard))
      const instance = anInstance(hand, ({ id }) => guards.filter(guard => guard.instance === id).length < 2)
      return (
        instance && berth.run('setGuard', { instance: instance.id, when: ofAnInstance(hand), ...how(hand) })
      )
    },
  },
  {
    name: 'guards on the account',
    weight: 1,
    do(hand) {
      const { berth, account } = hand
      const guards = Object.values(account.guards).filter(
        guard => !hasEnded(guard) && guard.instance === undefined,
      )
      return guards.length > 1 ? undefined : berth.run('setGuard', { when: ofTheAccount(hand), ...how(hand) })
    },
  },
  {
    name: 'guards taken off',
    weight: 1,
    do({ berth, account, chance }) {
      const guard = chance.oneOf(Object.values(account.guards))
      return guard && berth.run('removeGuard', { guard: guard.id })
    },
  },
  {
    name: 'snoozes',
    weight: 1,
    do({ berth, account, chance }) {
      const guard = chance.oneOf(Object.values(account.guards).filter(one => !hasEnded(one)))
      const minutes = chance.pick([null, ...snoozes.slice(0, 3)])
      return guard && berth.run('snoozeGuard', { guard: guard.id, minutes })
    },
  },
  {
    name: 'recoveries',
    weight: 5,
    do(hand) {
      const { berth, account } = hand
      const instance = anInstance(hand, ({ id, interruptible }) => interruptible && !account.recoveries[id])
      return instance && berth.run('chooseRecovery', { instance: instance.id, choice: aRecovery(hand) })
    },
  },
  {
    name: 'other recoveries',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, ({ interruptible }) => interruptible)
      return instance && hand.berth.run('chooseRecovery', { instance: instance.id, choice: aRecovery(hand) })
    },
  },
]

function how({ chance }: Hand) {
  return {
    action: chance.pick(['stop', 'destroy'] as const),
    warning: chance.pick([0, 300, 3600]),
    missed: chance.pick(['act', 'act', 'tell'] as const),
  }
}

function ofAnInstance({ chance, now, haste }: Hand): GuardRequest {
  const soon = Math.round(chance.between(1200, 18_000) / haste)
  return chance.pick<GuardRequest>([
    { kind: 'time', at: now + soon },
    { kind: 'duration', seconds: soon },
    { kind: 'cost', limit: chance.between(0.1, 3) },
    { kind: 'idle', below: chance.integer(5, 30), seconds: chance.integer(600, 2400) },
  ])
}

function ofTheAccount({ chance }: Hand): GuardRequest {
  return chance.pick<GuardRequest>([
    { kind: 'budget', per: 'day', limit: chance.between(10, 60) },
    { kind: 'budget', per: 'month', limit: chance.between(50, 600) },
    { kind: 'credit', hours: chance.between(2, 12) },
  ])
}

function aRecovery({ chance }: Hand): RecoveryChoice {
  const every = chance.integer(60, 3600)
  const ceiling = Math.round(chance.between(0.3, 1.5) * 1000) / 1000
  return chance.pick<RecoveryChoice>([
    { kind: 'tell' },
    { kind: 'raise', ceiling, every },
    { kind: 'raise', ceiling, every },
    { kind: 'replace', ceiling, every, limits: { attempts: 4, ceiling: 1, deadline: 3600 } },
    { kind: 'replace', ceiling, every, limits: { attempts: 4, ceiling: 1, deadline: 3600 } },
  ])
}
