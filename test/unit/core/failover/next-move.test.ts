import { expect, test } from 'vitest'
import type { InstanceState } from '../../../../electron/contract/instance/instance.ts'
import type { Failover, Try } from '../../../../electron/core/failover/failover.ts'
import { nextMove } from '../../../../electron/core/failover/next-move.ts'
import type { Rental } from '../../../../electron/core/rentals/rental.ts'
import { instanceView } from '../views.ts'

const now = 1_800_000_000
const request = { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] } as const
const rental: Rental = {
  id: 'r0000000000000001',
  account: 'a00000001',
  request: { ...request, offer: 1, env: [], ports: [] },
  offer: { id: 1, machineId: 10 },
  step: 'running',
  before: [],
  asked: 1,
  instance: 4711,
  startedAt: now - 100,
  createdAt: now - 100,
  deadline: 600,
}
const running: Try = { rental: rental.id, offer: rental.offer, startedAt: now - 100, runningAt: now - 30 }
const failover = (...tries: Try[]): Failover => ({
  id: 'f0000000000000001',
  search: {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
    filter: {},
    order: { column: 'price', descending: false },
  },
  request: { ...request, env: [], ports: [] },
  limits: { tries: 5, ceiling: 1, deadline: 600 },
  step: 'trying',
  tries,
  startedAt: now - 100,
})

test.each<[InstanceState, boolean]>([
  // Others bid more: its machine has done nothing wrong.
  ['outbid', false],
  ['crashed', true],
  ['offline', true],
  ['silent', true],
])('a try that ran and is %s is dropped, and it is %s that its machine is blamed', (state, blame) => {
  const sight = { now, rental, instance: instanceView({ state }), gone: false, ssh: 'silent' } as const
  expect(nextMove(failover(running), sight)).toMatchObject({ do: 'drop', drop: { blame, last: false } })
})

test('no other machine is rented once those that are gone have cost what all may', () => {
  const sight = { now, rental: undefined, instance: undefined, gone: false, ssh: 'unasked' } as const
  const gone = (cost: number): Try => ({
    ...running,
    cost,
    drop: { why: { code: 'crashed', message: '' }, at: now, blame: true, last: false },
  })
  expect(nextMove(failover(gone(500_000), gone(499_999)), sight)).toEqual({ do: 'search' })
  expect(nextMove(failover(gone(500_000), gone(500_000)), sight)).toMatchObject({
    do: 'end',
    step: 'failed',
    problem: { code: 'ceiling_reached' },
  })
})
