import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'

/**
 * The public command line drives the simulator's public profile. It runs where BERTH_VAST_CLI names a checkout, with
 * Debian's python3-requests, python3-dateutil, python3-rich and python3-pytest; elsewhere it is left out, with CI=true too.
 */
const checkout = process.env['BERTH_VAST_CLI'] ?? ''
const missing = checkout === '' ? ' (skipped: BERTH_VAST_CLI names no checkout)' : ''
const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHnqUFHT/g2YKfZ4It9BNBle4xzsgknad5PQ/Ahd+gfK someone@somewhere'

describe.skipIf(checkout === '')(`the public command line${missing}`, () => {
  let sim: Simulator
  let home: string

  beforeAll(async () => {
    expect(existsSync(join(checkout, 'vastai', 'cli', 'main.py')), `${checkout} is no checkout`).toBe(true)
    sim = await startSimulator({ speed: 0, calm: true, limits: false, deployment: publicProfile })
    home = await mkdtemp(join(tmpdir(), 'berth-public-cli-'))
  })
  afterAll(async () => {
    await sim.close()
    await rm(home, { recursive: true, force: true })
  })

  async function python(...words: string[]) {
    const child = spawn('/usr/bin/python3', ['-B', ...words], {
      cwd: checkout,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        PYTHONPATH: `${home}:${checkout}`,
        VAST_URL: sim.baseUrl,
        VAST_API_KEY: sim.apiKey,
        VASTAI_NO_UPDATE_CHECK: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>(resolve => child.once('close', resolve))
    const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    return { out, err, status }
  }

  /** The output of a command. Rejects with its whole output where it fails. */
  async function vast(...words: string[]): Promise<string> {
    const { out, err, status } = await python('-c', 'from vastai.cli.main import main; main()', ...words)
    // The exit code is 0 even where the service refuses.
    if (status !== 0 || /^Failed with error|^Error/m.test(err))
      throw new Error(`vastai ${words.join(' ')} ended with ${status}: ${out}${err}`)
    return out
  }

  async function raw<Shape>(...words: string[]): Promise<Shape> {
    return JSON.parse(await vast(...words, '--raw')) as Shape
  }

  type Offer = { id: number; min_bid: number; num_gpus: number }
  type Instance = {
    id: number
    label: string | null
    actual_status: string | null
    dph_base: number
    end_date: number
  }

  async function rent(...words: string[]): Promise<number> {
    const [offer] = await raw<Offer[]>('search', 'offers', 'num_gpus=1', '-o', 'dph', '--limit', '1')
    const answer = await raw<{ new_contract: number }>(
      'create',
      'instance',
      String(offer?.id),
      '--image',
      'ubuntu',
      ...words,
    )
    return answer.new_contract
  }

  const show = (id: number) => raw<Instance>('show', 'instance', String(id))

  test('searches offers with filters and their aliases', async () => {
    const query = 'num_gpus=2 dph<20 cuda_vers>=12.0 geolocation notin [CN] verified=any'
    const found = await raw<Offer[]>('search', 'offers', query, '-o', 'dph')
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThanOrEqual(64)
    expect(found.every(offer => offer.num_gpus === 2)).toBe(true)
    expect(await vast('search', 'offers', query)).toContain('mach_id')
  })

  test('rents, shows, labels, stops, starts and destroys', async () => {
    const id = await rent(
      '--disk',
      '12',
      '--label',
      'one',
      '--ssh',
      '--direct',
      '--env',
      '-e A=b -p 8080:8080',
    )
    await sim.controls.advance(400)
    expect(await show(id)).toMatchObject({ id, label: 'one', actual_status: 'running' })
    expect(await raw<Instance[]>('show', 'instances')).toMatchObject([{ id }])
    await vast('label', 'instance', String(id), 'two')
    expect(await vast('stop', 'instance', String(id))).toContain('stopping')
    expect(await raw<Instance[]>('show', 'instances', '--status', 'exited', '--label', 'two')).toHaveLength(1)
    expect(await vast('start', 'instance', String(id))).toContain('starting')
    await sim.controls.advance(60)
    expect(await show(id)).toMatchObject({ label: 'two', actual_status: 'running' })
    expect(await vast('ssh-url', String(id))).toMatch(/^ssh:\/\/root@127\.0\.0\.1:\d+/)
    expect(await vast('show', 'instances')).toContain('running')
    expect(await vast('logs', String(id), '--tail', '3')).toContain('ubuntu')
    await vast('destroy', 'instance', String(id), '-y')
    expect(await raw<Instance[]>('show', 'instances')).toEqual([])
    await expect(vast('show', 'instance', String(id))).rejects.toThrow('no longer exists')
  })

  test('lists 30 instances over several pages', async () => {
    const offers = await raw<Offer[]>('search', 'offers', 'num_gpus>0', '-o', 'dph', '--limit', '30')
    const headers = { authorization: `Bearer ${sim.apiKey}` }
    for (const offer of offers) {
      const path = `${sim.baseUrl}/api/v0/asks/${offer.id}/`
      await fetch(path, { method: 'PUT', headers, body: JSON.stringify({ image: 'ubuntu' }) })
    }
    const ids = (await vast('show', 'instances', '-q')).trim().split('\n')
    expect(new Set(ids).size).toBe(30)
    await vast('destroy', 'instances', ...ids, '-y')
    expect((await vast('show', 'instances', '-q')).trim()).toBe('')
  })

  test('rents with a bid and changes it', async () => {
    const [offer] = await raw<Offer[]>('search', 'offers', 'num_gpus=1', '--interruptible', '--limit', '1')
    const bid = (offer?.min_bid ?? 0) * 1.2
    const words = ['--image', 'ubuntu', '--bid_price', bid.toFixed(3)]
    const { new_contract: id } = await raw<{ new_contract: number }>(
      'create',
      'instance',
      String(offer?.id),
      ...words,
    )
    await vast('change', 'bid', String(id), '--price', '1.5')
    expect(await show(id)).toMatchObject({ is_bid: true, dph_base: 1.5 })
    await vast('destroy', 'instance', String(id), '-y')
  })

  test('adds, lists, attaches and deletes an SSH key', async () => {
    const id = await rent()
    await vast('create', 'ssh-key', PUBLIC_KEY)
    const [key] = await raw<{ id: number; key: string }[]>('show', 'ssh-keys')
    expect(key?.key).toBe(PUBLIC_KEY)
    expect(await vast('attach', 'ssh', String(id), PUBLIC_KEY)).toContain("'success': True")
    expect(await vast('delete', 'ssh-key', String(key?.id))).toContain("'success': True")
    await vast('destroy', 'instance', String(id), '-y')
  })

  test('makes a template, rents from it and deletes it', async () => {
    const flags = ['--image_tag', '22.04', '--env', '-e A=b', '--search_params', 'num_gpus=1']
    const made = await vast('create', 'template', '--name', 'mine', '--image', 'ubuntu', ...flags, '--ssh')
    const hash = /'hash_id': '([0-9a-f]+)'/.exec(made)?.[1] ?? ''
    expect(hash, made).not.toBe('')
    expect(await vast('search', 'templates', 'name == mine')).toContain(hash)
    const id = await rent('--template_hash', hash)
    expect(await show(id)).toMatchObject({ template_hash_id: hash })
    await vast('destroy', 'instance', String(id), '-y')
    await vast('delete', 'template', '--hash-id', hash)
    expect(await vast('search', 'templates', 'name == mine')).not.toContain(hash)
  })

  test('makes, lists and deletes an API key', async () => {
    const file = join(home, 'permissions.json')
    await writeFile(file, JSON.stringify({ api: { instance_read: {}, billing_read: {} } }))
    const made = await vast('create', 'api-key', '--name', 'mine', '--permission_file', file)
    const id = /'id': (\d+)/.exec(made)?.[1] ?? ''
    expect(await vast('show', 'api-keys')).toContain(id)
    expect(await vast('delete', 'api-key', id)).toContain('Successfully Deleted')
    expect(await vast('show', 'api-keys')).not.toContain(id)
  })

  test('copies between two instances, and cancels a copy', async () => {
    const one = await rent()
    const two = await rent()
    await sim.controls.advance(400)
    const said = await vast('copy', `C.${one}:/workspace/a`, `C.${two}:/workspace/b`)
    expect(said).toContain('Remote to Remote copy initiated')
    expect(await vast('cancel', 'copy', String(two))).toContain('canceled')
    for (const id of [one, two]) await vast('destroy', 'instance', String(id), '-y')
  })

  test('searches, rents, shows and deletes a volume', async () => {
    const [room] = await raw<{ id: number }[]>('search', 'volumes', 'disk_space>20', '--limit', '1')
    expect(await vast('create', 'volume', String(room?.id), '--size', '16', '--name', 'data')).toContain('V.')
    const [volume] = await raw<{ id: number; disk_space: number }[]>('show', 'volumes')
    expect(volume).toMatchObject({ disk_space: 16 })
    await vast('delete', 'volume', String(volume?.id))
    expect(await raw<unknown[]>('show', 'volumes')).toEqual([])
  })

  test('applies an accepted price increase from the contract’s end, and a rejected one never', async () => {
    const id = await rent()
    const { dph_base: before, end_date: ends } = await show(id)
    const pending = () => vast('show', 'pending-price-increases')
    sim.controls.askPriceIncrease(id, 1.25)
    expect(await pending()).toContain(String(id))
    await vast('accept', 'price-increase', String(id), '--yes')
    expect(await pending()).not.toContain(String(id))
    expect((await show(id)).dph_base).toBe(before)
    await sim.controls.advance(ends - sim.controls.ledger().now + 1)
    const dearer = (await show(id)).dph_base
    expect(dearer).toBeCloseTo(before * 1.25, 4)

    sim.controls.askPriceIncrease(id, 2)
    await vast('reject', 'price-increase', String(id), '--yes')
    expect(await pending()).not.toContain(String(id))
    expect((await show(id)).dph_base).toBe(dearer)
    await vast('destroy', 'instance', String(id), '-y')
  })

  test('passes the live tests of its own SDK', async () => {
    // In place of the checkout's own conftest.py, which loads the worker's libraries too.
    const fixture = [
      'import os, pytest',
      'from vastai.api.client import VastClient',
      '@pytest.fixture(scope="session")',
      'def live_client():',
      '    return VastClient(api_key=os.environ["VAST_API_KEY"], server_url=os.environ["VAST_URL"])',
    ]
    await writeFile(join(home, 'live_fixture.py'), fixture.join('\n'))
    const flags = ['-q', '--noconftest', '-p', 'live_fixture', '-p', 'no:cacheprovider']
    const { out, status } = await python('-m', 'pytest', ...flags, 'tests/live')
    expect(out, out).toMatch(/\b19 passed\b/)
    expect(status).toBe(0)
  })

  test('is refused with a wrong API key: Invalid user key', async () => {
    await expect(vast('show', 'user', '--api-key', 'wrong')).rejects.toThrow('Invalid user key')
  })
})
