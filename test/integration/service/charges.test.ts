import { afterEach, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment/profile.ts'
import { type Connected, connect } from './connected.ts'

let service: Connected
afterEach(() => service.simulator.close())

test('charges and invoices are listed where the service has them', async () => {
  service = await connect({ deployment: publicProfile })
  const { controls } = service.simulator
  const { id } = await service.rent({ disk: 40, image: 'pytorch/pytorch' })
  controls.topUp(40)
  await service.minutes(120)
  const [from, to] = [controls.ledger().now - 4 * 3600, controls.ledger().now + 60]
  const {
    rows: [row],
  } = await service.client.charges.list(from, to)
  expect(row).toMatchObject({ type: 'instance', source: `instance-${id}` })
  expect(row?.items?.map(({ type }) => type)).toEqual(expect.arrayContaining(['gpu', 'disk', 'bwu']))
  expect(row?.amount).toBeCloseTo(controls.ledger().micro_dollars / 1e6, 2)
  const invoices = { rows: [{ type: 'credit', amount: -40 }], whole: true }
  expect(await service.client.charges.invoices(from, to)).toMatchObject(invoices)
})

test('charges and invoices throw not_supported where the service lacks them', async () => {
  service = await connect()
  const { charges } = service.client
  await expect(charges.list(0, 1)).rejects.toMatchObject({ code: 'not_supported' })
  await expect(charges.invoices(0, 1)).rejects.toMatchObject({ code: 'not_supported' })
})

test('invoices over several pages are read to the last', async () => {
  service = await connect({ deployment: publicProfile })
  const from = service.simulator.controls.ledger().now - 60
  for (let paid = 1; paid <= 130; paid += 1) service.simulator.controls.topUp(paid)
  const { rows } = await service.client.charges.invoices(from, from + 3600)
  const amounts = new Set(rows.map(({ amount }) => amount))
  expect(amounts.size).toBe(130)
})
