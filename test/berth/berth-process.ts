import { join } from 'node:path'
import { startBerth } from '#core/berth.ts'
import { systemDownloads } from '#platform/chosen-files.ts'
import { isGoing } from '#shared/automation/run.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import { usesMade } from '#shared/project/borrowed.ts'
import { agreedCosts, planCosts } from '#shared/project/plan-costs.ts'
import type { ProjectPlan } from '#shared/project/project.ts'
import { hurriedClock } from './clocks.ts'
import { answeredDialogs, fileKeychain, silentLog, testMachine } from './machine.ts'

/**
 * Berth in its own process, to be killed. Arguments: its folder, the service's address and key, and a task:
 * `rent`, `retries` to rent with retries, or `project` to run the project in the folder that follows. Prints `renting`
 * before it rents, `online` once the service answers, and `idle` once neither a rental nor a run is under way, and no
 * machine waits for one.
 */
const [folder = '', baseUrl = '', key = '', task = '', projectFolder = ''] = process.argv.slice(2)
const downloads = systemDownloads(folder)
/** The user's, by their names. */
const secrets: Record<string, string> = JSON.parse(process.env['BERTH_TEST_SECRETS'] ?? '{}')

const berth = await startBerth({
  log: silentLog,
  platform: await testMachine(folder, {
    clock: hurriedClock(),
    downloads,
    fileDialogs: answeredDialogs({ chooseTarget: () => downloads.at(projectFolder) }),
    keychain: fileKeychain(join(folder, 'keychain.json')),
  }),
  app: { version: 'test', shell: 'browser' },
})

if (task === 'retries') {
  await berth.dispatch('changeSettings', { settings: { pollInterval: 2 } })
  await berth.dispatch('connectAccount', { baseUrl, key })
  process.stdout.write('renting\n')
  await berth.dispatch('rentWithRetries', {
    search: {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 20 },
      filter: {},
      order: { column: 'price', descending: false },
    },
    request: {
      image: 'pytorch/pytorch',
      access: 'ssh',
      disk: 20,
      env: [{ name: 'TOKEN', value: 'secret', secret: true }],
      ports: [],
    },
    limits: { attempts: 4, ceiling: 5, deadline: 600 },
  })
}
if (task === 'project') {
  await berth.dispatch('changeSettings', { settings: { pollInterval: 2 } })
  await berth.dispatch('connectAccount', { baseUrl, key })
  for (const [name, value] of Object.entries(secrets)) await berth.dispatch('saveSecret', { name, value })
  const project = (await berth.dispatch('addProject', {})) as string
  const plan = (await berth.dispatch('planProject', { project })) as ProjectPlan
  const { content, limits, pricePerHour: price } = plan
  process.stdout.write('renting\n')
  await berth.dispatch('runProject', {
    project,
    content,
    limits,
    price,
    ...agreedCosts(planCosts(plan)),
    secretFiles: [],
    allow: [...usesMade(plan), ...plan.borrowed.map(({ use }) => use)],
  })
}
if (task === 'rent') {
  await berth.dispatch('changeSettings', { settings: { pollInterval: 2 } })
  await berth.dispatch('connectAccount', { baseUrl, key })
  const query = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 1 }
  const { offers } = (await berth.dispatch('searchOffers', { query })) as { offers: { id: number }[] }
  const request = {
    offer: offers[0]?.id,
    image: 'pytorch/pytorch',
    access: 'ssh',
    disk: 20,
    env: [{ name: 'TOKEN', value: 'secret', secret: true }],
    ports: [],
    limits: [
      { when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', asleep: false },
      { when: { kind: 'cost', dollars: 20 }, action: 'stop', asleep: false },
    ],
  }
  process.stdout.write('renting\n')
  await berth.dispatch('rent', { request })
}
let isOnline = false
berth.onChange(sayWhenIdle)
sayWhenIdle()

function sayWhenIdle(): void {
  const [account] = Object.values(berth.state().accounts)
  if (account?.connection.status !== 'online') return
  if (!isOnline) process.stdout.write('online\n')
  isOnline = true
  const underWay = Object.values(account.rentals).some(isRenting)
  const runsGoOn =
    Object.values(account.runs).some(isGoing) ||
    Object.values(account.sweeps).some(({ step }) => step === 'going') ||
    Object.keys(account.waiting).length > 0
  if (!underWay && !runsGoOn) process.stdout.write('idle\n')
}
