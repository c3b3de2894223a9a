import { expect, test } from 'vitest'
import type { InstanceState } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'

test('an unknown state has no traits', () => {
  expect(hasTrait('hibernating' as InstanceState, 'stoppable')).toBe(false)
  expect(hasTrait('running', 'stoppable')).toBe(true)
})
