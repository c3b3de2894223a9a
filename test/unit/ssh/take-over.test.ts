import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { askBegan, readTakenOver, sidePlace, takeOver } from '#ssh/runs/take-over.ts'

const end = 1_700_000_000

/** A home folder with what was copied from a machine that ended at `end`, and what the next one has. */
function place() {
  const home = mkdtempSync(join(tmpdir(), 'berth-take-over-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const put = (path: string, text: string, age: number) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
    utimesSync(join(home, path), end - age, end - age)
  }
  const sh = (script: string) =>
    execFileSync('sh', ['-s'], { input: script, env: { ...process.env, HOME: home }, encoding: 'utf8' })
  const taken = async (...results: string[]) => readTakenOver(sh(await takeOver('side', 'berth/p1', results)))
  return {
    home,
    put,
    taken,
    sh,
    copied: (path: string, text: string, age: number) => put(`side/${path}`, text, age),
    alive: () => put('side/alive/alive', `${end}\n`, 0),
    here: (path: string) => readFileSync(join(home, 'berth/p1', path), 'utf8'),
    has: (path: string) => existsSync(join(home, path)),
  }
}

test('takes newer whole files, leaves those that may be half, and older ones as they are', async () => {
  const { home, put, copied, alive, taken, here, has, sh } = place()
  expect(sh(sidePlace('side', 2)).trim()).toBe(join(home, 'side'))
  alive()
  put('berth/p1/out/last.pt', 'step 100', 600)
  put('berth/p1/out/same.txt', 'same', 9000)
  put('berth/p1/out/log.txt', 'one\n', 600)
  copied('0/out/last.pt', 'step 200', 120)
  copied('0/out/same.txt', 'same', 9000)
  copied('0/out/log.txt', 'one\ntwo\n', 0)
  copied('0/out/deep/with space’s.pt', 'new', 60)
  copied('0/out/half.pt', 'ha', 3)
  symlinkSync('with space’s.pt', join(home, 'side/0/out/deep/latest'))
  symlinkSync('../half.pt', join(home, 'side/0/out/deep/newest'))
  copied('1/model.pt', 'model', 90)
  expect(await taken('out', 'model.pt')).toEqual({
    found: 6,
    files: 4,
    left: 1,
    missed: 1,
    newest: end - 60,
    end,
  })
  expect(['out/last.pt', 'out/log.txt', 'out/deep/latest', 'model.pt'].map(here)).toEqual([
    'step 200',
    'one\ntwo\n',
    'new',
    'model',
  ])
  expect(has('berth/p1/out/half.pt')).toBe(false)
  expect(lstatSync(join(home, 'berth/p1/out/deep/newest'), { throwIfNoEntry: false })).toBeUndefined()
  expect(has('side')).toBe(false)
  // A second time, as after a kill, there is nothing to take.
  expect(await taken('out', 'model.pt')).toEqual({
    found: 0,
    files: 0,
    left: 0,
    missed: 0,
    newest: 0,
    end: 0,
  })
})

test('leaves what lies beside a file that may be half and was written just before it, as parts of one checkpoint do', async () => {
  const { copied, alive, taken, has } = place()
  alive()
  for (const [rank, age] of [40, 28, 18, 12].entries())
    copied(`0/out/checkpoint-30/rank${rank} `, 'shard', age)
  for (const [rank, age] of [80, 78].entries()) copied(`0/out/checkpoint-20/rank${rank}`, 'shard', age)
  copied('0/out/model.pt', 'model', 70)
  copied('0/out/log.txt', 'x', 1)
  expect(await taken('out')).toEqual({ found: 8, files: 3, left: 5, missed: 1, newest: end - 70, end })
  expect(has('berth/p1/out/checkpoint-30/rank0 ')).toBe(false)
  expect(has('berth/p1/out/checkpoint-20/rank1')).toBe(true)
})

test('leaves a folder of the last minute that has fewer files than the one before it, as parts were yet to come', async () => {
  for (const [age, isTaken] of [
    [25, false],
    [70, true],
  ] as const) {
    const { copied, alive, taken, has } = place()
    alive()
    for (const part of ['model', 'optimizer']) copied(`0/out/step-20/${part}`, 'old', 100)
    copied('0/out/step-40/model', 'new', age)
    expect(await taken('out')).toMatchObject({ files: isTaken ? 3 : 2, left: isTaken ? 0 : 1 })
    expect(has('berth/p1/out/step-40')).toBe(isTaken)
  }
})

test('leaves all of a checkpoint of which a part is left or lacks, whatever its parts are called', async () => {
  const old = { 'G_40.pth': 100, 'D_40.pth': 90, 'step-40/model': 110, 'step-40/optimizer': 100 }
  const cases: [string, Record<string, number>, number][] = [
    ['in a folder, over a minute', { 'step-80/model': 80, 'step-80/optimizer': 2 }, 0],
    ['beside others', { 'G_80.pth': 25, 'D_80.pth': 5 }, 0],
    ['beside others, without the last one', { 'G_80.pth': 25 }, 0],
    [
      'all of which came',
      { 'G_80.pth': 30, 'D_80.pth': 20, 'step-80/model': 70, 'step-80/optimizer': 50 },
      4,
    ],
    ['that never had more', { 'G_80.pth': 70 }, 1],
    [
      'in a folder of a second start, which has saved once yet',
      {
        'v_0/notes.yaml': 500,
        'v_0/1.ckpt': 480,
        'v_0/2.ckpt': 460,
        'v_1/notes.yaml': 99,
        'v_1/3.ckpt': 40,
        'v_1/log.csv': 1,
      },
      5,
    ],
    ['beside a log of its own', { 'step-80/model': 50, 'step-80/optimizer': 40, 'step-80/log.txt': 2 }, 2],
  ]
  for (const [how, files, more] of cases)
    for (const isHere of [false, true]) {
      const { put, copied, alive, taken, has } = place()
      alive()
      for (const [path, age] of Object.entries(old))
        if (isHere) put(`berth/p1/out/${path}`, path, age)
        else copied(`0/out/${path}`, path, age)
      for (const [path, age] of Object.entries(files)) copied(`0/out/${path}`, path, age)
      expect(await taken('out'), how).toMatchObject({ files: more + (isHere ? 0 : 4) })
      const came = Object.keys(files).filter(path => has(`berth/p1/out/${path}`))
      expect(came, how).toHaveLength(more)
      expect(has('berth/p1/out/step-80'), how).toBe(came.some(path => path.startsWith('step-80')))
    }
})

test('takes a checkpoint that was saved twice, and half of no second one', async () => {
  const state = 'state '.repeat(1000)
  for (const [last, files] of [
    [state, 3],
    [state.slice(6), 1],
    ['\0'.repeat(6000), 1],
  ] as const) {
    const { copied, alive, taken } = place()
    alive()
    copied('0/out/step=20.ckpt', 'old', 80)
    copied('0/out/step=40.ckpt', last.startsWith('s') ? state : last, 5)
    copied('0/out/last.ckpt', last, 4)
    expect(await taken('out')).toMatchObject({ files })
  }
})

test('takes a JSON text whose brackets are closed, if all else that is young is known', async () => {
  const tune = '{ "trials": [{ "best": "checkpoint_80 \\\\ \\"}" }] }\n'
  const cases: [string, Record<string, [string, number]>, boolean][] = [
    ['alone', {}, true],
    ['beside logs', { 'progress.csv': ['a,b\n', 1], 'train.log': ['x', 1] }, true],
    ['beside another one', { 'other.json': ['[]', 2] }, true],
    ['beside one that ends too early', { 'other.json': ['[{"a": "}]"', 2] }, false],
    ['beside a checkpoint of which it may tell', { 'checkpoint_100/model': ['new', 3] }, false],
    ['beside one in another result', { '../../1/models/model': ['new', 3] }, false],
  ]
  for (const [how, files, isTaken] of cases)
    for (const isHere of [false, true]) {
      const { put, copied, alive, taken, here } = place()
      alive()
      if (isHere) put('berth/p1/out/state.json', '{}', 600)
      copied('0/out/checkpoint_80/model', 'new', 60)
      copied('0/out/state.json', tune, 4)
      for (const [path, [text, age]] of Object.entries(files)) copied(`0/out/${path}`, text, age)
      const result = await taken('out', 'models')
      if (!isTaken && isHere) expect(result, how).toBe('torn')
      else if (isTaken) expect(here('out/state.json'), how).toBe(tune)
      else expect(result, how).toMatchObject({ files: 1 })
    }
})

test('takes a checkpoint that was named after it was written, and what names it', async () => {
  const write = (files: Readonly<Record<string, readonly [string, number]>>) => {
    const scene = place()
    scene.alive()
    for (const [path, [text, age]] of Object.entries(files)) scene.copied(`0/out/${path}`, text, age)
    return scene
  }
  const shards = {
    'step20/rank0': ['old', 60],
    'step40/rank0': ['new', 9],
    'step40/rank1': ['new', 6],
  } as const
  const tf = (name: string) => `model_checkpoint_path: "${name}"\nall_model_checkpoint_paths: "ckpt-20"\n`
  const parts = {
    'ckpt-20.index': ['old', 60],
    'ckpt-40.data-00000-of-00001': ['new', 9],
    'ckpt-40.index': ['new', 6],
  } as const
  const cases: [string, Record<string, [string, number]>, number][] = [
    ['by a path from the top', { ...shards, last_checkpoint: ['/root/berth/p1/out/step40', 4] }, 4],
    ['by a name of which there are several files', { ...parts, checkpoint: [tf('ckpt-40'), 4] }, 4],
    ['by a name that isn’t there', { ...parts, checkpoint: [tf('ckpt-60'), 4] }, 1],
    ['as a key', { ...parts, 'state.json': ['{ "ckpt-40": "ckpt-20" }', 4] }, 2],
    ['beside another text', { ...parts, 'state.json': ['{ "saves": "ckpt-40", "state": "busy" }', 4] }, 1],
    ['by a name', { ...shards, latest: ['step40\n', 4] }, 4],
    ['by a number in a file of its progress', { ...shards, 'step.txt': ['40', 4] }, 1],
    [
      'as the path of a part of the next one',
      { ...shards, 'step20/rank1': ['old', 60], 'step20/rank2': ['old', 60], latest: ['step40\n', 4] },
      3,
    ],
    ['by a number', { ...shards, 'latest_iteration.txt': ['40', 4] }, 4],
    ['by its number with zeros', { 'iter_0000040/model': ['new', 9], 'latest.txt': ['40\n', 4] }, 2],
    ['before its last file', { ...shards, latest: ['step40', 7] }, 1],
    ['as nothing that is there', { ...shards, latest: ['step4', 4] }, 1],
    ['beside a log', { ...shards, latest: ['step40', 4], 'log.txt': ['x', 1] }, 4],
  ] as never
  for (const [how, files, taken] of cases) {
    expect(await write(files).taken('out'), how).toMatchObject({ files: taken })
  }
  const linked = write({ 'a-20.ckpt': ['old', 60], 'a-40.ckpt': ['new', 6] })
  const link = join(linked.home, 'side/0/out/last.ckpt')
  symlinkSync('a-40.ckpt', link)
  lutimesSync(link, end - 5, end - 5)
  expect(await linked.taken('out')).toMatchObject({ files: 2, left: 0 })
  expect(linked.here('out/last.ckpt')).toBe('new')
  for (const [age, files] of [
    [5, 3],
    [8, 1],
  ] as const) {
    const toFolder = write(shards)
    const link = join(toFolder.home, 'side/0/out/latest')
    symlinkSync('step40', link)
    // Its entries came before its files had all been written.
    utimesSync(join(toFolder.home, 'side/0/out/step40'), end - 9, end - 9)
    lutimesSync(link, end - age, end - age)
    expect(await toFolder.taken('out')).toMatchObject({ files, left: 3 - files })
  }
})

test('takes the one file written just before the end where its folder changed after it, as by putting it in place', async () => {
  const tick = { age: 3.5, folder: 3.5 }
  const cases: [
    string,
    { age: number; folder: number },
    { size?: number; beside?: string; older?: string },
    boolean,
  ][] = [
    ['put in its place later', { age: 3.5, folder: 3.4 }, {}, true],
    ['begun before, and written in place', { age: 3.4, folder: 3.5 }, {}, false],
    ['both within a tick', tick, {}, false],
    ['both within a tick, more than that has time to write', tick, { size: 2 ** 27 }, true],
    ['begun before, and large', { age: 3.4, folder: 3.5 }, { size: 2 ** 27 }, false],
    ['copied without the times of folders', { age: 3.5, folder: -60 }, {}, false],
    ['beside another one', { age: 3.5, folder: 3.4 }, { beside: 'log.txt' }, false],
    ['beside an older part', { age: 3.5, folder: 3.4 }, { older: 'state.pt' }, false],
    ['with an older one of that name elsewhere', { age: 3.5, folder: 3.4 }, { older: '20/last.pt' }, false],
    ['beside an older one of another kind', { age: 3.5, folder: 3.4 }, { older: 'config.json' }, true],
    ['beside its next version', { age: 3.5, folder: 1 }, { beside: 'last.pt.tmp' }, true],
    ['beside a log that ends in .tmp, with a folder that is older', tick, { beside: 'log.tmp' }, false],
  ]
  for (const [what, { age, folder }, { size, beside, older }, isTaken] of cases) {
    for (const earlier of (size ?? beside ?? older) ? [undefined] : [undefined, 'step 100']) {
      const { home, put, copied, alive, taken, has } = place()
      alive()
      if (earlier !== undefined) put('berth/p1/out/last.pt', earlier, 600)
      copied('0/out/last.pt', 'step 200', age)
      const path = join(home, 'side/0/out/last.pt')
      if (size !== undefined)
        execFileSync('sh', ['-c', 'truncate -s "$1" "$2"; printf x >> "$2"', '', String(size), path])
      if (beside !== undefined) copied(`0/out/${beside}`, 'x', 2)
      if (older !== undefined) copied(`0/out/${older}`, 'x', 300)
      utimesSync(path, end - age, end - age)
      utimesSync(dirname(path), end - folder, end - folder)
      const result = await taken('out')
      const [left, others] = [beside === undefined ? 0 : 1, older === undefined ? 0 : 1]
      const files = others + (isTaken ? 1 : 0)
      if (isTaken)
        expect(result, what).toEqual({
          found: files + left,
          files,
          left,
          missed: 0,
          newest: Math.floor(end - age),
          end,
        })
      else if (earlier !== undefined) expect(result, what).toBe('torn')
      else expect(result, what).toMatchObject({ files, left: 1 + left })
      expect(statSync(join(home, 'berth/p1/out/last.pt'), { throwIfNoEntry: false })?.size, what).toBe(
        isTaken ? (size ?? 7) + 1 : earlier?.length,
      )
      if (beside !== undefined) expect(has(`berth/p1/out/${beside}`)).toBe(false)
    }
  }
})

test('leaves a file with a temporary name without those beside it', async () => {
  const { copied, alive, taken, has } = place()
  alive()
  copied('0/out/last.pt', 'step 200', 16)
  copied('0/out/last.pt.tmp', 'st', 2)
  copied('0/out/.notes.swp', 'x', 1)
  expect(await taken('out')).toEqual({ found: 3, files: 1, left: 2, missed: 0, newest: end - 16, end })
  expect(has('berth/p1/out/last.pt.tmp')).toBe(false)
})

test('makes no folder whose files are all left, nor one whose links lead to such, but one that came empty', async () => {
  const { home, copied, alive, taken, has } = place()
  alive()
  copied('0/out/checkpoint-20/rank0', 'shard', 80)
  for (const path of ['checkpoint-30/rank0', 'checkpoint-30/state/rank1', 'deep/er/model'])
    copied(`0/out/${path}`, 'shard', 3)
  for (const folder of ['best/of', 'last', 'empty/er'])
    mkdirSync(join(home, 'side/0/out', folder), { recursive: true })
  symlinkSync('../../checkpoint-30/rank0', join(home, 'side/0/out/best/of/all'))
  symlinkSync('../checkpoint-20/rank0', join(home, 'side/0/out/last/model'))
  copied('1/young/model', 'mo', 1)
  expect(await taken('out', 'young')).toMatchObject({ files: 1, left: 4 })
  expect(readdirSync(join(home, 'berth/p1/out')).toSorted()).toEqual(['checkpoint-20', 'empty', 'last'])
  expect(readFileSync(join(home, 'berth/p1/out/last/model'), 'utf8')).toBe('shard')
  expect(has('berth/p1/out/empty/er')).toBe(true)
})

test('takes links from the top that lead into their own result, wherever that is here', async () => {
  const { home, copied, alive, sh, here } = place()
  alive()
  copied('0/out/step-40/model', 'new', 80)
  mkdirSync(join(home, 'side/0/out/best'))
  symlinkSync('/root/old/out/step-40', join(home, 'side/0/out/latest'))
  symlinkSync('/root/old/out/step-40', join(home, 'side/0/out/best/one'))
  symlinkSync('/root/old/other/step-40', join(home, 'side/0/out/elsewhere'))
  // Found before the link to which it leads.
  for (const [link, goal] of [
    ['a', 'latest'],
    ['z', 'latest'],
  ] as const)
    symlinkSync(goal, join(home, 'side/0/out', link))
  sh(await takeOver('side', 'berth/p1', ['out'], { origin: '/root/old' }))
  const out = join(home, 'berth/p1/out')
  expect(['latest', 'best/one'].map(link => readlinkSync(join(out, link)))).toEqual(['step-40', '../step-40'])
  expect(here('out/best/one/model')).toBe('new')
  expect(readdirSync(out).toSorted()).toEqual(['a', 'best', 'latest', 'step-40', 'z'])
})

test('takes all that a command had written when it ended by itself, and tells its exit code', async () => {
  for (const [ended, answer] of [
    // Written when it ended, and older than what came: not half. What something else wrote after that may be.
    [' 0', { found: 3, files: 2, left: 1, missed: 1, newest: end, end, code: 0 }],
    [' 1', { found: 3, files: 2, left: 1, missed: 1, newest: end, end, code: 1 }],
    // By a signal, in the midst of a file.
    [' 137', 'torn'],
    ['', 'torn'],
    [' 0000', 'torn'],
  ] as const) {
    const { put, copied, taken } = place()
    put('side/alive/alive', `${end}${ended}\n`, 0)
    put('berth/p1/out/model.pt', 'old model', 600)
    copied('0/out/model.pt', 'new model', 0)
    copied('0/out/state.pt', 'new state', 2)
    copied('0/out/late.pt', 'la', -3)
    expect(await taken('out')).toEqual(answer)
  }
})

test.each(['state.pt', 'status.json'])(
  'takes nothing where a file that was being written has an older whole version here, as %s',
  async state => {
    const { put, copied, alive, taken, here } = place()
    alive()
    put('berth/p1/out/model.pt', 'old model', 600)
    put(`berth/p1/out/${state}`, 'old state', 600)
    copied('0/out/model.pt', 'new model', 20)
    copied(`0/out/${state}`, 'new', 2)
    expect(await taken('out')).toBe('torn')
    expect([here('out/model.pt'), here(`out/${state}`)]).toEqual(['old model', 'old state'])
  },
)

test('takes nothing of a machine that doesn’t say when it ended, or that its command began', async () => {
  const { copied, alive, taken, has, sh } = place()
  expect(sh(askBegan('side'))).toBe('')
  copied('0/out/model.pt', 'new model', 600)
  expect(await taken('out')).toMatchObject({ files: 0 })
  expect(has('berth/p1/out/model.pt')).toBe(false)
  alive()
  expect(sh(askBegan('side'))).toBe('began\n')
})

test('no file that was written shortly before the end ever takes a place, whatever there is', {
  timeout: 60_000,
}, async () => {
  const file = fc.record({
    name: fc.constantFrom('a.pt', 'b/c.pt', 'd e.txt'),
    age: fc.integer({ min: 0, max: 60 }),
    text: fc.constantFrom('new', 'old and more', 'o'),
    here: fc.option(fc.constantFrom('old', 'new'), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(file, { selector: ({ name }) => name, minLength: 1 }), async files => {
      const { put, copied, alive, taken, here, has } = place()
      alive()
      for (const one of files) {
        copied(`0/out/${one.name}`, one.text, one.age)
        if (one.here !== undefined) put(`berth/p1/out/${one.name}`, one.here, 600)
      }
      const result = await taken('out')
      const isHalf = ({ age }: (typeof files)[number]) => age < 15
      const isTorn = files.some(
        one => isHalf(one) && one.here !== undefined && !one.text.startsWith(one.here),
      )
      expect(result === 'torn').toBe(isTorn)
      // With each that is left those beside it go, which were written within 15 seconds of each other.
      const left = new Set<unknown>()
      const edges = new Map<string, number>()
      for (const one of files.toSorted((a, b) => a.age - b.age)) {
        const edge = edges.get(dirname(one.name))
        const isBeside = !isHalf(one) && edge !== undefined && one.age - edge <= 15
        if (!isBeside && !(isHalf(one) && one.here === undefined)) continue
        left.add(one)
        edges.set(dirname(one.name), one.age)
      }
      for (const one of files) {
        const after = has(`berth/p1/out/${one.name}`) ? here(`out/${one.name}`) : undefined
        const mayTake = !isTorn && !left.has(one)
        expect(after).toBe(mayTake ? one.text : one.here)
      }
    }),
    { numRuns: 25 },
  )
})
