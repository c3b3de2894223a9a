import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test('an instance is prepaid at a discount, and destroying it pays back what is left, less the discount', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const { id, pricePerHour = 0, mostDiscount } = await rentRunning(under)
  expect(mostDiscount).toBe(0.4)
  const credit = () => under.account().credit ?? 0
  const before = credit()
  const { months, discount } = await under.run('prepayInstance', { instance: id, amount: 10 })
  expect(discount).toBeCloseTo((0.4 * months) / (months + 1), 6)
  const view = () => under.account().instances[id]
  expect(view()?.prepaid?.discount).toBeCloseTo(discount, 6)
  expect(view()?.pricePerHour).toBeLessThan(pricePerHour)
  expect(before - credit()).toBeGreaterThanOrEqual(10_000_000)
  const { refundable, saved } = await under.run('prepaidDeposit', { instance: id })
  expect(refundable).toBeGreaterThan(9_000_000)
  expect(saved).toBeGreaterThanOrEqual(0)
  const texts = () => Object.values(under.berth.state().activity).map(({ text }) => text)
  expect(texts().join('\n')).toContain('Prepaid $10.00 at a discount of')
  expect(await codeOf(under.run('prepayInstance', { instance: id, amount: 5000 }))).toBe('refused')
  expect(await codeOf(under.run('prepayInstance', { instance: id, amount: 0.5 }))).toBe('invalid_argument')

  // Paid all the same, though the answer is lost.
  world.sim.controls.setFaults([{ method: 'PUT', path: '/prepay/', kind: 'reset_after', times: 1 }])
  await expect(under.run('prepayInstance', { instance: id, amount: 2 })).rejects.toThrow()
  expect(texts().join('\n')).toMatch(/May have been done: Prepaid \$2\.00 for .*#\d/)
  await under.until(() => (view()?.prepaid?.left ?? 0) > 11_000_000)

  await under.run('destroyInstance', { instance: id })
  await under.until(() => under.account().instances[id] === undefined)
  await under.until(() => before - credit() < 2_000_000)
})

test('a deployment without prepayments offers none', async ({ openWorld }) => {
  const under = await (await openWorld({ limits: false })).startConnected()
  const { id } = await rentRunning(under)
  expect(under.account().capabilities.prepays).toBe(false)
  expect(await codeOf(under.run('prepayInstance', { instance: id, amount: 10 }))).toBe('not_supported')
})
