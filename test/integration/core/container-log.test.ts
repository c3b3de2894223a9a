import { expect } from 'vitest'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test('container and host logs are read as plain text, where the service has them', async ({ connected }) => {
  const { world, under } = await connected({ limits: false })
  const { id: instance } = await rentRunning(under, { image: 'ubuntu' })
  expect(await codeOf(under.run('readContainerLog', { instance })), 'this one has none').toBe('not_supported')
  world.sim.controls.setDeployment({ deployment: 'public', list: 'v0', limits: 'buckets' })
  const { lines, cut } = await under.run('readContainerLog', { instance })
  expect(lines[0]).toMatch(/^\S+Z Starting ubuntu$/)
  expect(cut).toBe(false)
  const host = await under.run('readContainerLog', { instance, host: true })
  expect(host.lines).toContain('docker pull ubuntu')
})
