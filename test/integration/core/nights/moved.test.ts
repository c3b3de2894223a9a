import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isInstalled } from '#build/system-parts.ts'
import { planAfterwards } from '#shared/project/afterwards.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { endDetached, type Sshd, startSshd } from '#test/integration/ssh/sshd.ts'
import { newKey } from '#test/new-key.ts'
import { jobOf, openProject } from '../projects/place.ts'

const noRestic = isInstalled('restic') ? '' : ' (needs restic)'

/** It has written a checkpoint that is on its machine alone, and goes on. */
const files = {
  'berth.yaml': `machine: { interruptible: true, price: 5 }
outbid: { elsewhere: 1 }
results: out
run: |
  if [ -e out/ckpt ]; then cp out/ckpt out/resumed; exit 0; fi
  mkdir -p out; echo step 9000 > out/ckpt; touch -d '2 minutes ago' out/ckpt; echo half > out/new.part
  : > $HOME/written
  until [ -e $HOME/enough ]; do echo x >> out/new.part; sleep 0.2; done
`,
}

describe.skipIf(noSshd)(`a run that moves${noSshd}`, () => {
  /** `before`: what happens before its machine is outbid. */
  async function moved(copies: 'paused' | 'running', before?: (old: Sshd) => Promise<unknown>) {
    const deployment = { ...publicProfile, limits: 'buckets', logs: 0, copies } as const
    const place = await openProject(files, undefined, { deployment }, 2)
    const { world, under, sshds, project, runProject } = place
    const plan = await under.run('planProject', { project })
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => sshds.some(({ home }) => existsSync(join(home, 'written'))))
    const first = job()?.instance ?? 0
    const old = sshds.find(({ home }) => existsSync(join(home, 'written')))
    // Else the time before Berth sees it begin is no training.
    await under.until(() => job()?.waiting?.for === 'output')
    // Half an hour of training.
    await world.sim.controls.advance(1800)
    if (old) await before?.(old)
    await world.sim.controls.outbid(first)
    await under.until(() => job()?.moves === 1)
    return { ...place, plan, id, job, first, old }
  }

  test('continues from what the old machine alone had, which is destroyed once it is copied', async () => {
    const { under, folder, plan, job, first, world } = await moved('paused')
    await under.until(() => under.account().instances[first]?.state === 'stopped')
    await under.until(() => job()?.waiting?.for === 'copy')
    // World time passes quickly here: the copy takes minutes of it.
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(folder, 'out/resumed'), 'utf8')).toBe('step 9000\n')
    expect(existsSync(join(folder, 'out/new.part'))).toBe(false)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    // Half an hour, of which only what came after the checkpoint is lost.
    expect(job()?.lost?.seconds).toBeLessThan(1800)
    expect(planAfterwards(plan.spec, plan.keeping, planCosts(plan)).join(' ')).toMatch(
      /stopped, and kept until its newer results are copied to the next one, at most 2 h: its disk costs \$/,
    )
    const { leftCost = 0, most } =
      planCosts({
        ...plan,
        limits: [{ when: { kind: 'cost', dollars: 9 }, action: 'stop', asleep: false }],
      }) ?? {}
    expect(most).toBeGreaterThanOrEqual(9_000_000 + leftCost)
    expect(leftCost).toBeGreaterThan(0)
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
  })

  test('doesn’t run again what had ended well before Berth saw it, whose results the service copies', async () => {
    const { under, folder, job } = await moved('paused', async old => {
      old.freezeConnections()
      writeFileSync(join(old.home, 'enough'), '')
      await expect.poll(() => filesIn(old.home).some(name => name.endsWith('/code'))).toBe(true)
    })
    await under.until(() => job()?.step === 'done')
    expect(existsSync(join(folder, 'out/resumed'))).toBe(false)
    // The command wrote it until it ended, and not longer.
    expect(readFileSync(join(folder, 'out/new.part'), 'utf8')).toMatch(/^half\n(x\n)*$/)
    expect(job()).toMatchObject({ moves: 1, lost: { seconds: 0 } })
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test.each([
    ['', ''],
    [', also in a sweep', 'sweep: { seed: [1] }\n'],
  ])('moves at once where its user says so, with all that it has, from host to host%s', async (_, more) => {
    const { world, under, sshds, folder, runProject } = await openProject(
      {
        'berth.yaml': `machine: { interruptible: true, price: 5 }
${more}results: [out, model.pt]
before_stop: { signal: USR1, run: 'echo saved > out/saved', at_most: 30s }
run: |
  if [ -e out/ckpt ]; then cat out/ckpt out/saved model.pt > out/resumed; exit 0; fi
  mkdir -p out; head -c 300000 /dev/urandom > out/big; echo step 9 > out/ckpt; echo weights > model.pt
  mkdir -p 'out/a b'; echo x > 'out/a b/-T'; ln -s ckpt out/latest
  : > $HOME/written
  sleep 600
`,
      },
      undefined,
      {},
      2,
    )
    await runProject()
    await under.until(() => sshds.some(({ home }) => existsSync(join(home, 'written'))))
    const [id = ''] = Object.keys(under.account().runs)
    const job = () => jobOf(under, id)
    const first = job()?.instance
    const home = job()?.into ?? folder
    const old = sshds.find(({ home }) => existsSync(join(home, 'written')))
    await under.until(() => (job()?.outputs.length ?? 0) > 0)
    await under.run('moveRun', { run: id })
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(home, 'out/resumed'), 'utf8')).toBe('step 9\nsaved\nweights\n')
    expect(readFileSync(join(home, 'out/a b/-T'), 'utf8')).toBe('x\n')
    expect(readFileSync(join(home, 'out/big'))).toEqual(
      readFileSync(join(old?.home ?? '', 'berth', job()?.project ?? '', 'out/big')),
    )
    expect(job()).toMatchObject({ moves: 1 })
    expect(job()?.instance).not.toBe(first)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    // It stayed from host to host, and neither machine keeps the key of that.
    const { activity } = under.berth.state()
    expect(Object.values(activity)).toContainEqual(
      expect.objectContaining({
        text: `Copied the results of ${job()?.name} from #${first}`,
        detail: expect.stringContaining('sent from machine to machine'),
      }),
    )
    for (const { home } of sshds) {
      const keys = join(home, '.ssh/authorized_keys')
      expect(existsSync(keys) ? readFileSync(keys, 'utf8') : '').toBe('')
    }
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
  })

  test('moves where its process is gone, as after an outbid while nobody watched, with what is whole', async () => {
    const { under, sshds, folder, runProject } = await openProject(files, undefined, {}, 2)
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => sshds.some(({ home }) => existsSync(join(home, 'written'))))
    await under.until(() => job()?.waiting?.for === 'output')
    const old = sshds.find(({ home }) => existsSync(join(home, 'written')))
    // Its container was restarted: the machine runs, and nothing of the run does.
    endDetached(old?.home ?? '')
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(folder, 'out/resumed'), 'utf8')).toBe('step 9000\n')
    expect(existsSync(join(folder, 'out/new.part'))).toBe(false)
    expect(job()).toMatchObject({ moves: 1 })
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('keeps the old machine where the service can’t copy from it, until its time is over', async () => {
    const { under, sshds, job, first, world } = await moved('running')
    await under.until(() => under.account().instances[first]?.state === 'stopped')
    await under.until(() => job()?.instance !== first && job()?.outputs.includes('command') === true)
    const { activity } = under.berth.state()
    expect(Object.values(activity).map(({ text }) => text)).toContainEqual(
      expect.stringContaining(`continues without the newest results of #${first}`),
    )
    await world.sim.controls.advance(7200)
    await under.until(() => under.account().instances[first] === undefined)
    expect(job()?.step).toBe('running')
    for (const { home } of sshds) writeFileSync(join(home, 'enough'), '')
    await under.until(() => job()?.step === 'done')
  })

  test.skipIf(noRestic)(
    `continues from the newest snapshot that the machine stored by itself${noRestic}`,
    async () => {
      const store = await startSshd()
      onTestFinished(() => store.close())
      const { private: privateKey, public: publicKey } = newKey()
      store.authorize(publicKey)
      const to = `sftp://root@${store.host}:${store.port}/${store.folder}/backups`
      const { world, under, sshds, folder, project, runProject } = await openProject(
        {
          'berth.yaml': `machine: { interruptible: true, price: 5 }
outbid: { elsewhere: 1 }
results: out
checkpoint: { every: 1m, to: '${to}', password: { secret: BACKUP_PASSWORD }, key: { secret: BACKUP_KEY } }
run: |
  if [ -e out/ckpt ]; then cp out/ckpt out/resumed; exit 0; fi
  mkdir -p out; echo step 9000 > out/ckpt; touch -d '2 minutes ago' out/ckpt
  sleep 600
`,
        },
        undefined,
        {},
        2,
      )
      await under.run('saveSecret', { name: 'BACKUP_PASSWORD', value: 'a password' })
      // As a field of one line makes it.
      await under.run('saveSecret', { name: 'BACKUP_KEY', value: privateKey.replaceAll('\n', ' ') })
      const plan = await under.run('planProject', { project })
      expect(planAfterwards(plan.spec, plan.keeping, planCosts(plan)).join(' ')).toContain(
        `Every 1 min the machine itself stores the results in ${to}, encrypted by restic`,
      )
      const id = await runProject()
      const job = () => jobOf(under, id)
      const states = () => sshds.map(({ home }) => storedIn(home))
      await under.until(() => states().some(text => text.startsWith('ok ')))
      await world.sim.controls.outbid(job()?.instance ?? 0)
      await under.until(() => job()?.moves === 1)
      await under.until(() => job()?.step === 'done')
      expect(readFileSync(join(folder, 'out/resumed'), 'utf8')).toBe('step 9000\n')
      const { text } = await under.run('readRun', { run: id, of: 'command', place: { from: 0 } })
      expect(text).toMatch(/Berth: continues from the snapshot of \d{4}-/)
      // That machine keeps no key of the store.
      const last = sshds.filter(({ home }) => hasRestored(home))
      expect(last.map(({ home }) => secretsIn(home))).toEqual([[]])
    },
  )
})

function filesIn(home: string): string[] {
  const runs = join(home, '.berth/runs')
  if (!existsSync(runs)) return []
  return readdirSync(runs, { recursive: true }).map(name => join(runs, String(name)))
}

function storedIn(home: string): string {
  const file = filesIn(home).find(name => name.endsWith('/stored'))
  return file === undefined ? '' : readFileSync(file, 'utf8')
}

const secretsIn = (home: string) => filesIn(home).filter(name => /store\.(?:pass|key|env)$/.test(name))

function hasRestored(home: string): boolean {
  return filesIn(home).some(
    name => name.endsWith('/output') && readFileSync(name, 'utf8').includes('Berth: continues'),
  )
}
