import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ProjectRun } from '#core/runs/model.ts'
import { askSetUp, noteSetUp } from '#core/runs/setup-cache.ts'
import { setupOf } from '#shared/project/bounds.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { temporaryFolder, writeInto } from '#test/temporary-folder.ts'

const files = { 'train.py': 'one', 'requirements.txt': 'torch', 'deps/base.txt': 'a', 'data/big.bin': 'x' }

/** A machine's home folder that is set up by a spec; the function says whether it counts as set up after changes. */
function machineSetUp(setup: ProjectSpec['setup']) {
  const home = temporaryFolder({})
  const folder = join(home, 'berth', 'p1')
  mkdirSync(folder, { recursive: true })
  const run = { id: 'r1', project: { id: 'p1', spec: { setup, run: 'python train.py' } } } as ProjectRun
  const sh = (input: string) =>
    execFileSync('sh', ['-s'], { input, encoding: 'utf8', env: { ...process.env, HOME: home } }).trim()
  const ask = (there: Readonly<Record<string, string>>, environment = {}) => {
    writeInto(folder, there)
    const sent = Object.entries(there).map(([path, text]) => ({
      path,
      size: text.length,
      modified: text.length,
    }))
    return sh(askSetUp(run, { environment, varying: {}, files: sent }))
  }
  ask(files)
  sh(noteSetUp(run))
  return ask
}

describe.skipIf(process.platform === 'win32')('a machine that is set up', () => {
  test.each<[string | string[], object, string]>([
    ['requirements.txt', {}, 'same'],
    ['requirements.txt', { 'train.py': 'other', 'data/big.bin': 'more', 'deps/base.txt': 'bb' }, 'same'],
    ['requirements.txt', { 'requirements.txt': 'torch 2' }, 'other'],
    [['requirements.txt', 'deps/'], { 'deps/base.txt': 'bb' }, 'other'],
    [['requirements.txt', 'deps/'], { 'deps/new.txt': 'c' }, 'other'],
    ['*.txt', { 'deps/base.txt': 'bb' }, 'other'],
    [['*.txt', '!deps/*'], { 'deps/base.txt': 'bb' }, 'same'],
    ['requirement.txt', {}, 'other'],
  ])('counts as that by %j, after %j as %s', (reads, changed, outcome) => {
    const ask = machineSetUp({ run: 'sh install.sh', reads })
    expect(ask({ ...files, ...changed })).toBe(`setup ${outcome}`)
    expect(ask({ ...files, ...changed }, { A: 'b' })).toBe('setup other')
  })

  test('counts as set up without reads only if no file changed that the command does not name alone', () => {
    const ask = machineSetUp('sh install.sh')
    expect(ask({ ...files, 'train.py': 'other' })).toBe('setup same')
    expect(ask({ ...files, 'deps/base.txt': 'bb' })).toBe('setup other')
  })

  test('has the commands of either notation', () => {
    expect(setupOf({ setup: 'a' })).toEqual({ run: 'a' })
    expect(setupOf({ setup: { run: 'a', reads: 'b' } })).toEqual({ run: 'a', reads: ['b'] })
    expect(setupOf({})).toBeUndefined()
  })
})
