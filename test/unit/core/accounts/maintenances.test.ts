import { expect, test } from 'vitest'
import { nextWindows, openMaintenances } from '#core/accounts/maintenances.ts'
import type { ServiceClient } from '#service/client.ts'
import { maintenanceWords } from '#shared/instance/maintenance.ts'
import { accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'

const now = 1_790_000_000
const hour = 3600
const starting = (start_time: number, duration_hours?: number, machine_id = 7) => ({
  machine_id,
  start_time,
  ...(duration_hours !== undefined && { duration_hours }),
})

test('each instance of a machine gets the first window that is not over', () => {
  const windows = [starting(now + 9 * hour), starting(now + hour, 2), starting(now - 5 * hour, 4)]
  const on = [{ id: 1, machineId: 7 }, { id: 2, machineId: 7 }, { id: 3, machineId: 8 }, { id: 4 }]
  const window = { from: now + hour, until: now + 3 * hour, category: undefined }
  expect(nextWindows(windows, on, now)).toEqual({ 1: window, 2: window })
})

test('a window that goes on is shown until it ends, and nonsense of a host has an end', () => {
  const [one] = Object.values(nextWindows([starting(now - hour, 2)], [{ id: 1, machineId: 7 }], now))
  expect(one && maintenanceWords({ ...one, category: 'disk' }, now)).toMatch(
    /^Its host’s maintenance \(disk\) goes on until \S/,
  )
  const endless = nextWindows([starting(now, 1e300)], [{ id: 1, machineId: 7 }], now)
  expect(endless[1]?.until).toBe(now + 10_000 * hour)
})

test('the maintenance of a machine that was left is remembered, until it is over', async () => {
  const asked: (readonly number[])[] = []
  let time = now
  const context = accountContext({
    now: () => time,
    client: () =>
      ({
        machines: {
          async maintenances(machines: readonly number[]) {
            asked.push(machines)
            return machines.includes(7) ? [starting(now + hour, 2)] : []
          },
        },
      }) as unknown as ServiceClient,
  })
  const maintenances = await openMaintenances(context)
  const on = async (machineId: number) => {
    maintenances.onPoll(freshAnswer(context, { 1: instanceView({ id: 1, machineId }) }, []))
    await flushPromises()
  }
  await on(7)
  await on(9)
  expect(asked).toEqual([[7], [9]])
  expect([...maintenances.soonDown()]).toEqual([7])
  time = now + 4 * hour
  expect([...maintenances.soonDown()]).toEqual([])
})
