import { expect, test } from 'vitest'
import { unsupportedNode } from '#start/node-support.ts'

test.each([
  ['20.19.0', '2026-04-30T12:00:00Z', undefined],
  ['20.19.0', '2026-05-01T12:00:00Z', 'Node 20.19.0 has had no security fixes since 2026-04-30.'],
  ['23.1.0', '2026-01-01T00:00:00Z', 'Node 23.1.0 has had no security fixes since 2025-06-01.'],
  ['24.1.0', '2027-01-01T00:00:00Z', undefined],
  ['99.0.0', '2040-01-01T00:00:00Z', undefined],
])('Node %s on %s: %s', (version, day, message) => {
  expect(unsupportedNode(version, Date.parse(day))?.message).toBe(message)
})
