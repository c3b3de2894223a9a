import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test('a machine is reported with one of the service’s reasons, where it takes reports', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const { id, machineId } = await rentRunning(under)
  expect(under.account().capabilities.takesReports).toBe(true)
  const report = { problem: 'Machine Has Port Issues' as const, message: 'Port 8188 is closed.' }
  await under.run('reportMachine', { instance: id, report })
  const sent = world.sim.controls.requests().filter(({ path }) => path.includes('/report'))
  expect(sent).toMatchObject([{ method: 'PUT', path: `/api/v0/machines/${machineId}/report`, status: 200 }])
  expect(JSON.stringify(under.berth.state())).toContain('Reported the machine (Machine has port issues)')
  const unknown = under.run('reportMachine', {
    instance: id,
    report: { ...report, problem: 'Too slow' as 'Other' },
  })
  expect(await codeOf(unknown)).toBe('invalid_argument')
})
