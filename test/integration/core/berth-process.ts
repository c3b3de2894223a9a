import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailingOver } from '../../../electron/contract/automation/failover.ts'
import { startBerth } from '../../../electron/core/berth.ts'
import { systemDownloads } from '../../../electron/local/chosen/downloads.ts'
import { systemClock } from '../../../electron/local/clock.ts'
import { openFiles } from '../../../electron/local/files.ts'
import type { Keychain } from '../../../electron/ports/keychain.ts'
import { silentLog } from '../../unit/core/silent-log.ts'

/**
 * Berth in a process of its own, to be killed. Arguments: its folder, the service's address and key, and `rent` to
 * rent something or `failover` to rent it with failover. Prints `renting` before it rents, and `settled` once neither
 * a rental nor a failover is under way.
 */
const [folder = '', baseUrl = '', key = '', task = ''] = process.argv.slice(2)

const berth = await startBerth({
  log: silentLog,
  machine: {
    clock: systemClock,
    downloads: systemDownloads(folder),
    files: await openFiles(join(folder, 'berth')),
    keychain: fileKeychain(join(folder, 'keychain.json')),
    notifier: {
      available: true,
      show: async () => undefined,
      close: async () => undefined,
      onClick: () => undefined,
    },
    opener: { openLink: async () => undefined, openPrivately: async () => undefined },
    programs: { find: async () => undefined, launch: async () => undefined },
    random: {
      hex: digits => randomBytes(digits).toString('hex').slice(0, digits),
      fraction: Math.random,
    },
    platform: 'linux',
    home: folder,
  },
  app: { version: 'test', shell: 'browser', terminals: [] },
})

if (task === 'failover') {
  await berth.dispatch('changeSettings', { settings: { pollInterval: 2 } })
  await berth.dispatch('connectAccount', { baseUrl, key })
  process.stdout.write('renting\n')
  await berth.dispatch('rentWithFailover', {
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
    limits: { tries: 4, ceiling: 5, deadline: 600 },
  })
}
if (task === 'rent') {
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
  }
  process.stdout.write('renting\n')
  await berth.dispatch('rent', { request })
}
berth.onChange(sayWhenSettled)
sayWhenSettled()

function sayWhenSettled(): void {
  const [account] = Object.values(berth.state().accounts)
  if (account?.connection.status !== 'online') return
  const underWay = Object.values(account.rentals).some(({ step }) => step !== 'failed')
  const failingOver = Object.values(account.failovers).some(isFailingOver)
  if (!underWay && !failingOver) process.stdout.write('settled\n')
}

/** A keychain that outlives the process. */
function fileKeychain(path: string): Keychain {
  const read = async () =>
    JSON.parse(await readFile(path, 'utf8').catch(() => '{}')) as Record<string, string>
  let last: Promise<unknown> = Promise.resolve()
  const change = (edit: (entries: Record<string, string>) => void) => {
    const mine = last.then(async () => {
      const entries = await read()
      edit(entries)
      // Whole or not at all, as a keychain writes: the process may be killed at this very moment.
      await writeFile(`${path}.new`, JSON.stringify(entries))
      await rename(`${path}.new`, path)
    })
    last = mine
    return mine
  }
  return {
    persistent: true,
    get: async name => (await read())[name],
    set: (name, secret) =>
      change(entries => {
        entries[name] = secret
      }),
    delete: name =>
      change(entries => {
        delete entries[name]
      }),
  }
}
