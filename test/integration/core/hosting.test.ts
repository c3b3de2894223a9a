import { expect } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { type BerthUnderTest, test } from '#test/berth/world.ts'

async function firstMachine(under: BerthUnderTest): Promise<number> {
  const [machine] = await under.run('listMachines', {})
  if (machine?.id === undefined) throw new Error('the account has no machine')
  return machine.id
}

test('machines are listed with hostname, GPUs and whether they are on offer', async ({ connected }) => {
  const { under } = await connected()
  const machines = await under.run('listMachines', {})
  expect(machines.map(({ hostname }) => hostname)).toEqual(['rack-a1', 'rack-a2', 'attic'])
  expect(machines[0]).toMatchObject({ gpuName: 'RTX 4090', gpuCount: 4, listed: true })
  expect(machines.map(({ maintenance }) => maintenance?.is)).toEqual([true, true, false])
})

test('maintenance is cancelled, and refused for an unknown machine', async ({ connected }) => {
  const { under } = await connected()
  const { at, message } = await under.run('cancelMaintenance', { machine: await firstMachine(under) })
  expect(at).toBeGreaterThan(0)
  expect(message).toContain('cancelled')
  await expect(under.run('cancelMaintenance', { machine: 1 })).rejects.toMatchObject({
    problem: { code: 'not_found', message: 'No machine on this account has the id 1.' },
  })
})

test('a clean-up tells how many contracts were deleted', async ({ connected }) => {
  const { under } = await connected()
  const machine = await firstMachine(under)
  expect((await under.run('cleanUpMachine', { machine })).deleted).toBeGreaterThan(0)
  expect((await under.run('cleanUpMachine', { machine })).deleted).toBe(0)
})

test("someone else's machine is not cleaned up", async ({ connected }) => {
  const { under } = await connected()
  const { offers } = await under.run('searchOffers', {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 1 },
  })
  await expect(under.run('cleanUpMachine', { machine: offers[0]?.machineId ?? 0 })).rejects.toMatchObject({
    problem: { code: 'not_authorized', message: 'Only the owner of the machine may do this.' },
  })
})

test('a network disk is created and extended to further machines', async ({ connected }) => {
  const { under } = await connected()
  const [first, second, third] = (await under.run('listMachines', {})).map(({ id }) => id ?? 0)
  const { disk } = await under.run('addNetworkDisk', {
    request: { mountPoint: '/mnt/shared', machines: [first ?? 0] },
  })
  await under.run('addNetworkDisk', {
    request: { mountPoint: '/mnt/shared', machines: [second ?? 0, third ?? 0], disk },
  })
  expect(await under.run('listNetworkDisks', {})).toEqual([
    { id: disk, mountPoint: '/mnt/shared', machines: [first, second, third] },
  ])
})

test('a workergroup is created and listed with every field of the interface', async ({ connected }) => {
  const { under } = await connected()
  const [template] = await under.run('searchTemplates', { filters: [] })
  const request = {
    endpointName: 'chat',
    templateHash: template?.hash ?? '',
    searchParams: 'gpu_name=RTX_4090',
    launchArgs: '--shm-size 8g',
    minLoad: 2,
    targetUtilisation: 0.8,
  }
  const created = await under.run('createWorkergroup', { request })
  expect(created).toMatchObject(request)
  expect(created.id).toBeGreaterThan(0)
  expect(await under.run('listWorkergroups', {})).toEqual([created])
})

test('a list that the service lacks is refused as not supported', async ({ connected }) => {
  const { world, under } = await connected()
  world.sim.controls.setFaults(
    ['/machines', '/network_disk/', '/workergroups/'].map(path => ({
      method: 'GET' as const,
      path,
      kind: 'status' as const,
      status: 404,
      times: 1,
    })),
  )
  for (const command of ['listMachines', 'listNetworkDisks', 'listWorkergroups'] as const)
    expect(await codeOf(under.run(command, {}))).toBe('not_supported')
})
