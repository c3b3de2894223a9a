import { expect, test } from 'vitest'
import { seenOutbids } from '#renderer/features/market/seenOutbids.ts'
import type { InstanceView, StatusChange } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

const change = (at: number, state: InstanceView['state']): StatusChange => ({ at, state, actualStatus: null })
const bidding = (gpu: string, history: readonly StatusChange[]) =>
  instanceView({ interruptible: true, gpu: { name: gpu, count: 1 }, history })

test('the odds of a bid are what was seen of the same GPU, else of all bids, and nothing without any', () => {
  const often = bidding('RTX 4090', [
    change(0, 'loading'),
    change(3600, 'running'),
    change(7200, 'outbid'),
    change(8000, 'running'),
  ])
  const never = bidding('A40', [change(0, 'running')])
  const demanded = instanceView({ interruptible: false, history: [change(0, 'running')] })
  expect(seenOutbids([often, never], 'RTX 4090', 15_200)).toBe('Seen: 1 outbid in 3 h of bids for RTX 4090.')
  expect(seenOutbids([often, never], 'A40', 7200)).toBe('Seen: no outbid in 2 h of bids for A40.')
  expect(seenOutbids([never], 'H100', 36_000)).toBe('Seen: no outbid in 10 h of all your bids.')
  expect(seenOutbids([demanded], undefined, 36_000)).toBeUndefined()
})
