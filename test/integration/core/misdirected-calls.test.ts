import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandName, commands } from '#contract/commands.ts'
import type { MainMessage } from '#contract/messages.ts'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { type Call, describeCall } from './malformed-calls.ts'
import { misdirectedCalls, type Targets } from './misdirected-calls.ts'

const seed = Number(process.env['BERTH_TEST_SEED'] ?? 4711)
const ofEach = Number(process.env['BERTH_CALLS'] ?? 4)

let world: World
let other: Simulator
beforeEach(async () => {
  world = await createWorld({ limits: false })
  other = await startSimulator({ port: 0, seed: 8, speed: 60, offers: 200, calm: true, limits: false })
})
afterEach(async () => {
  await other.close()
  await world.close()
})

/** The writes that a misdirected command may send to its own service. All others may send none. */
const mayAsk: Partial<Record<CommandName, RegExp>> = {
  searchOffers: /^POST \/bundles\/$/,
  // It only reads.
  recommendedBid: /^PUT \/bundles_bid_price\/ID\/$/,
  imageTags: /^POST \/templates\/fetch-tags\/?$/,
  checkRegistry: /^POST \/templates\/validate-auth\/?$/,
  deleteAccountSshKey: /^DELETE \/ssh\/ID\/$/,
  deleteScheduledJob: /^DELETE \/commands\/schedule_job\/ID\/$/,
  createTemplate: /^POST \/template\/$/,
  editTemplate: /^PUT \/template\/$/,
  deleteTemplate: /^DELETE \/template\/$/,
  createApiKey: /^POST \/auth\/apikeys\/$/,
  deleteApiKey: /^DELETE \/auth\/apikeys\/ID\/$/,
  twoFactorLogin: /^POST \/tfa\/$/,
  sendEmailCode: /^POST \/tfa\/email\/$/,
  sendSmsCode: /^POST \/tfa\/sms\/$/,
  resendSmsCode: /^POST \/tfa\/sms\/resend\/$/,
  setUpTotp: /^POST \/tfa\/totp-setup\/$/,
  authorizeNewMethod: /^POST \/tfa\/authorize-new-method\/$/,
  confirmNewMethods: /^PUT \/tfa\/authorize-new-method\/$/,
  addMethod: /^POST \/tfa\/confirm-new\/$/,
  updateMethod: /^PUT \/tfa\/update\/$/,
  removeMethod: /^DELETE \/tfa\/$/,
  regenerateBackupCodes: /^PUT \/tfa\/regen-backup-codes\/$/,
  addVariable: /^POST \/secrets\/$/,
  changeVariable: /^PUT \/secrets\/$/,
  deleteVariable: /^DELETE \/secrets\/$/,
  changePreferences: /^PUT \/users\/\d+\/notification-prefs\/$/,
  createWebhook: /^POST \/webhooks\/$/,
  updateWebhook: /^PUT \/webhooks\/ID\/$/,
  rotateWebhookSecret: /^POST \/webhooks\/ID\/rotate-secret\/$/,
  testWebhook: /^POST \/webhooks\/ID\/test\/$/,
  deleteVolume: /^DELETE \/volumes\//,
  deleteWebhook: /^DELETE \/webhooks\/ID\/$/,
  cancelMaintenance: /^PUT \/machines\/ID\/cancel_maint$/,
  cleanUpMachine: /^PUT \/machines\/ID\/cleanup$/,
  addNetworkDisk: /^POST \/network_disk\/$/,
  createWorkergroup: /^POST \/workergroups\/$/,
}

/** A page: sends a call and resolves with its answer. */
function openPage({ berth }: BerthUnderTest) {
  const waiting = new Map<number, (message: MainMessage) => void>()
  const page = berth.connectPage(message => {
    if ('call' in message) waiting.get(message.call)?.(message)
    return true
  })
  let calls = 0
  return ({ name, args }: Call) =>
    new Promise<MainMessage>(resolve => {
      calls += 1
      waiting.set(calls, resolve)
      page.receive({ kind: 'command', call: calls, name, args })
    })
}

/** The writes sent to a service since then, as `METHOD /path`, with the call's own id as ID. */
function writesSince(sim: Simulator, before: number, { args }: Call): string[] {
  const { id, machine } = args as { id?: number; machine?: number }
  return sim.controls
    .requests()
    .slice(before)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) =>
      `${method} ${path.replace(/^\/api\/v\d/, '')}`.replace(`/${id ?? machine}/`, '/ID/'),
    )
}

/** A service's instances, with what commands could change; `ever` counts destroyed ones too. */
async function instancesOn(sim: Simulator) {
  const headers = { authorization: `Bearer ${sim.apiKey}` }
  const answer = await fetch(`${sim.baseUrl}/api/v0/instances/`, { headers })
  const { instances }: { instances: Record<string, unknown>[] } = await answer.json()
  return {
    there: instances.map(({ id, label, intended_status, cur_state }) => [
      id,
      label,
      intended_status,
      cur_state,
    ]),
    ever: sim.controls.ledger().instances.length,
  }
}

test('well-formed calls for wrong targets change nothing', async () => {
  const under = await world.startConnected()
  const first = { account: under.account().id, instance: await rentRunning(under) }
  await under.run('connectAccount', { baseUrl: other.baseUrl, key: other.apiKey })
  await under.until(() => under.account().connection.status === 'online')
  const second = { account: under.account().id, instance: await rentRunning(under) }
  await under.run('showAccount', { account: first.account })

  const targets: Targets = {
    accounts: [first.account, second.account],
    instances: [[first.instance.id], [second.instance.id]],
  }
  const services = [world.sim, other]
  const ask = openPage(under)
  const before = await Promise.all(services.map(instancesOn))
  const unreached: string[] = []
  for (const name of Object.keys(commands) as CommandName[]) {
    // It may go to any service, with any key.
    if (name === 'connectAccount') continue
    const calls = misdirectedCalls(name, ofEach, seed, targets)
    if (calls.length === 0) unreached.push(name)
    for (const call of calls) {
      // The last call may have shown another.
      await under.run('showAccount', { account: first.account })
      const asked = services.map(sim => sim.controls.requests().length)
      await ask(call)
      const { account = first.account } = call.args as { account?: string }
      for (const [at, sim] of services.entries()) {
        const allowed = targets.accounts[at] === account ? mayAsk[name] : undefined
        const writes = writesSince(sim, asked[at] ?? 0, call).filter(write => !allowed?.test(write))
        expect(writes, `${describeCall(call, seed)} on service ${at + 1}`).toEqual([])
      }
    }
  }
  expect(unreached).toEqual([])
  await under.run('refresh', {})
  expect(await Promise.all(services.map(instancesOn))).toEqual(before)
  expect(Object.keys(under.berth.state().accounts).sort()).toEqual([...targets.accounts].sort())
})
