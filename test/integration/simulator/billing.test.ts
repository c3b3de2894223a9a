import { afterEach, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

const services: Service[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.sim.close()
})

async function fresh() {
  const service = await startService()
  services.push(service)
  const spent = (id: number) =>
    service.sim.controls.ledger().instances.find(total => total.instance_id === id)
  return { ...service, spent }
}

/** Micro-dollars: world time moves a few milliseconds between two steps. */
const SLACK = 2

test('disk is charged from creation, GPUs from running, neither after destruction', async () => {
  const { sim, rent, instance, spent, call } = await fresh()
  const { id } = await rent({ disk: 100 })
  const { dph_base, dph_total } = (await instance(id)) as { dph_base: number; dph_total: number }
  const disk = Math.round((dph_total - dph_base) * 1e6)
  expect(spent(id)?.gpu_micro_dollars).toBe(0)
  await sim.controls.advance(300)
  const before = spent(id)?.gpu_micro_dollars ?? 0
  await sim.controls.advance(3600)
  expect(Math.abs((spent(id)?.gpu_micro_dollars ?? 0) - before - Math.round(dph_base * 1e6))).toBeLessThan(
    SLACK,
  )
  expect(Math.abs((spent(id)?.disk_micro_dollars ?? 0) - (disk * 3900) / 3600)).toBeLessThan(SLACK)
  await call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' })
  const stopped = spent(id)
  await sim.controls.advance(3600)
  expect(spent(id)?.gpu_micro_dollars).toBe(stopped?.gpu_micro_dollars)
  expect(
    Math.abs((spent(id)?.disk_micro_dollars ?? 0) - (stopped?.disk_micro_dollars ?? 0) - disk),
  ).toBeLessThan(SLACK)
  await call('DELETE', `/api/v0/instances/${id}/`)
  const end = spent(id)
  await sim.controls.advance(3600)
  expect(spent(id)).toEqual(end)
})

test('an instance on an offline host costs only its disk', async () => {
  const { sim, rent, spent } = await fresh()
  const { id } = await rent()
  await sim.controls.advance(300)
  await sim.controls.forceStatus(id, 'offline')
  const before = spent(id)
  await sim.controls.advance(3600)
  expect(spent(id)?.gpu_micro_dollars).toBe(before?.gpu_micro_dollars)
  expect(spent(id)?.disk_micro_dollars).toBeGreaterThan(before?.disk_micro_dollars ?? 0)
})

test('credit falls by the ledger’s sum, and the charges add up to it', async () => {
  const { sim, rent } = await fresh()
  await rent()
  await rent({ disk: 50 })
  sim.controls.setCredit(100)
  const start = sim.controls.ledger()
  await sim.controls.advance(86_400)
  const ledger = sim.controls.ledger()
  const spent = ledger.micro_dollars - start.micro_dollars
  expect(spent).toBeGreaterThan(0)
  expect(Math.round(ledger.credit * 1e6)).toBe(Math.round(start.credit * 1e6) - spent)
  const charges = ledger.charges.reduce((sum, charge) => sum + charge.micro_dollars, 0)
  expect(charges).toBe(ledger.micro_dollars)
  expect(ledger.charges.every(charge => Number.isInteger(charge.micro_dollars))).toBe(true)
})
