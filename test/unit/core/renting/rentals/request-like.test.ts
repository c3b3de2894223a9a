import { expect, test } from 'vitest'
import { replacesVariable } from '#core/instances/mark.ts'
import { withoutOffer } from '#core/renting/rentals/request-like.ts'

test('what is rented like a replacement is in nobody’s place', () => {
  const own = { name: 'MODE', value: 'train', secret: false }
  const env = [own, { name: replacesVariable, value: '4711', secret: false }]
  const request = { offer: 7, image: 'ubuntu', access: 'ssh' as const, disk: 10, env, ports: [] }
  expect(withoutOffer(request)).toEqual({
    image: 'ubuntu',
    access: 'ssh',
    disk: 10,
    env: [own],
    ports: [],
  })
})
