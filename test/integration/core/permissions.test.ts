import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Args, CommandName } from '#contract/commands.ts'
import { rentRunning, requestCheapest } from '#test/berth/steps.ts'
import { plainTemplate } from '#test/berth/template.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { ended, retriesRequest } from './renting/request.ts'

let world: World
let under: BerthUnderTest
let instance: number
let offer: number
let publicKey: string

beforeAll(async () => {
  world = await createWorld()
  under = await world.startConnected()
  instance = (await rentRunning(under)).id
  offer = (await requestCheapest(under)).offer
  publicKey = (await under.run('sshKeys', {}))[0]?.publicKey ?? ''
  // The key may poll, and nothing else.
  world.sim.controls.setFaults([
    { path: '^/api/v0/(?!users/current/|instances/$)', kind: 'status', status: 403 },
  ])
})
afterAll(() => world.close())

const request = { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] } as const
const proof = { with: 'totp', code: '123456' } as const
const secret = 'a'.repeat(32)

/** Every command that the service may refuse, with the permission that its key needs. */
const needs: { [Name in CommandName]?: [permission: string, args: () => Args<Name>] } = {
  searchOffers: [
    'misc',
    () => ({ query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10 } }),
  ],
  rent: [
    'instance_write',
    () => ({ request: { ...request, env: [], ports: [], offer }, replaces: instance }),
  ],
  findAgain: ['misc', () => ({ rental: under.account().pastRentals?.[0]?.id ?? '' })],
  findReplacement: ['misc', () => ({ instance })],
  searchTemplates: ['user_read', () => ({ filters: [] })],
  createTemplate: ['user_write', () => ({ fields: plainTemplate })],
  editTemplate: ['user_write', () => ({ hash: 'h', changes: { name: 'u' } })],
  deleteTemplate: ['user_write', () => ({ id: 1 })],
  stopInstance: ['instance_write', () => ({ instance })],
  startInstance: ['instance_write', () => ({ instance })],
  destroyInstance: ['instance_write', () => ({ instance })],
  renameInstance: ['instance_write', () => ({ instance, label: 'x' })],
  changeBid: ['instance_write', () => ({ instance, price: 1 })],
  attachKey: ['instance_write', () => ({ instance })],
  startCopy: [
    'instance_write',
    () => ({ request: { from: instance, fromPath: '/a', to: instance, toPath: '/b' } }),
  ],
  startSync: [
    'user_write',
    () => ({
      request: {
        instance,
        direction: 'Instance To Cloud',
        instancePath: '/a',
        cloudPath: '/b',
        connection: '1',
        flags: [],
      },
    }),
  ],
  listApiKeys: ['user_read', () => ({})],
  createApiKey: ['user_write', () => ({ request: { name: 'k', permissions: { misc: {} } } })],
  deleteApiKey: ['user_write', () => ({ id: 1 })],
  listAccountSshKeys: ['user_read', () => ({})],
  addAccountSshKey: ['user_write', () => ({ publicKey })],
  twoFactorStatus: ['user_read', () => ({})],
  sendEmailCode: ['user_write', () => ({})],
  sendSmsCode: ['user_write', () => ({ request: { phone: '+15551234567' } })],
  resendSmsCode: ['user_write', () => ({ request: { phone: '+15551234567' } })],
  setUpTotp: ['user_write', () => ({})],
  authorizeNewMethod: ['user_write', () => ({ by: { with: 'email' } })],
  confirmNewMethods: ['user_write', () => ({ code: '123456', secret })],
  addMethod: ['user_write', () => ({ method: { kind: 'totp', code: '123456', secret } })],
  updateMethod: ['user_write', () => ({ method: 1, label: 'x' })],
  removeMethod: ['user_write', () => ({ proof, method: 1 })],
  regenerateBackupCodes: ['user_write', () => ({ proof })],
  readPreferences: ['user_read', () => ({})],
  changePreferences: ['user_read', () => ({ preferences: { client: {} } })],
  listWebhooks: ['user_read', () => ({})],
  createWebhook: [
    'user_write',
    () => ({ fields: { name: 'w', url: 'https://example.com/', events: ['client:low_credit'] } }),
  ],
  updateWebhook: ['user_write', () => ({ id: 1, changes: { name: 'x' } })],
  deleteWebhook: ['user_write', () => ({ id: 1 })],
  listMachines: ['machine_read', () => ({})],
  cancelMaintenance: ['machine_write', () => ({ machine: 1 })],
  cleanUpMachine: ['machine_write', () => ({ machine: 1 })],
  listNetworkDisks: ['machine_read', () => ({})],
  addNetworkDisk: ['machine_write', () => ({ request: { mountPoint: '/d', machines: [1] } })],
  listWorkergroups: ['misc', () => ({})],
  createWorkergroup: ['misc', () => ({ request: { endpointName: 'e', templateHash: 'h' } })],
}

describe('a permission that is missing is named', () => {
  test.each(Object.entries(needs) as [CommandName, [string, () => Args<never>]][])(
    'by %s',
    async (name, [permission, args]) => {
      const call = under.berth.dispatch(name, args())
      await expect(call).rejects.toMatchObject({
        problem: {
          code: 'forbidden',
          message: expect.stringContaining(`lacks the permission ${permission}.`),
        },
      })
    },
  )

  test('by stopping everything, with the instances that still run', async () => {
    const lacking = {
      code: 'forbidden',
      message: expect.stringContaining('lacks the permission instance_write.'),
    }
    const named = expect.stringContaining(`#${instance}`)
    expect(await under.run('stopEverything', {})).toMatchObject({ stopped: 0, failed: [named], lacking })
    const said = Object.values(under.berth.state().activity).map(({ detail }) => detail)
    expect(said).toContainEqual(
      expect.stringMatching(/^Not stopped: .*lacks the permission instance_write\.$/),
    )
  })

  test('by attempts and a watch that run in the background', async () => {
    const lacking = { code: 'forbidden', message: expect.stringContaining('lacks the permission misc.') }
    const rental = await under.run('rentWithRetries', retriesRequest())
    await under.until(() => under.account().rentals[rental]?.problem?.code === 'forbidden')
    expect(under.account().rentals[rental]).toMatchObject({ step: 'searching', problem: lacking })
    await under.run('cancelRental', { rental })
    await ended(under, rental)
    const { search } = retriesRequest()
    const watch = await under.run('saveWatch', { request: { name: 'w', search, every: 60 } })
    await under.until(() => under.account().watches[watch]?.problem !== undefined)
    expect(under.account().watches[watch]?.problem).toMatchObject(lacking)
  })
})
