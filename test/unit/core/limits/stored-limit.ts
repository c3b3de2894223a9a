import { type Facts, periodsOf } from '#core/limits/facts.ts'
import type { StoredLimit } from '#core/limits/model.ts'

/** A stored limit, which stops its instance by default. */
export const storedLimit = (given: Partial<StoredLimit> = {}): StoredLimit => ({
  id: 'g0000000000000001',
  instance: 7,
  when: { kind: 'cost', dollars: 2 },
  action: 'stop',
  warning: 0,
  missed: 'act',
  asleep: false,
  setAt: 0,
  history: [],
  ...given,
})

/** The facts that limits decide on, of an account that has spent nothing by default. */
export const limitFacts = (at: number, account: Facts['account'], given: Partial<Facts> = {}): Facts => ({
  ...periodsOf(at),
  at,
  account,
  spentToday: 0,
  spentThisMonth: 0,
  observedPerHour: 0,
  countedAt: at,
  loads: new Map(),
  uses: new Map(),
  ...given,
})
