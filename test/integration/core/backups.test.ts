import { expect } from 'vitest'
import { backupFolder } from '#shared/account/records.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test('the backup of an instance whose host is gone is listed, and copied to another one', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const lost = await rentRunning(under)
  const other = await rentRunning(under)
  expect(await under.run('listBackups', {})).toEqual([])
  await world.sim.controls.forceStatus(lost.id, 'offline')
  const [backup] = await under.run('listBackups', {})
  expect(backup).toMatchObject({ of: lost.id, isVolume: false, step: 'done', at: expect.any(Number) })
  const request = {
    from: lost.id,
    backup: true,
    fromPath: backupFolder({ isVolume: false }),
    to: other.id,
    toPath: '/workspace/',
  }
  const id = await under.run('startCopy', { request })
  const sent = world.sim.controls.requests().filter(({ path }) => path.includes('/copy_direct'))
  expect(sent).toMatchObject([{ method: 'PUT', status: 200 }])
  expect(under.account().transfers[id]?.from).toEqual({ path: `vast.${lost.id}:/upper/workspace/` })
  expect(under.account().transfers[id]?.to.instance).toBe(other.id)
})

test('a service that keeps no backups says so', async ({ openWorld }) => {
  const under = await (await openWorld({ limits: false })).startConnected()
  expect(await codeOf(under.run('listBackups', {}))).toBe('not_supported')
})
