import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { environmentText, intoProject, removeEnvironment, writeEnvironment } from '#core/runs/remote.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { projectRun } from './stored-run.ts'

const shells = [['sh'], ['bash'], ['busybox', 'sh']].filter(([name = '']) =>
  ['/bin', '/usr/bin'].some(folder => existsSync(join(folder, name))),
)

/** Runs lines on a machine with that home folder, as its user's shell does. */
function machine([program = 'sh', ...first]: readonly string[], home: string) {
  return (lines: string, input = '') =>
    execFileSync(program, [...first, '-c', lines], {
      input,
      cwd: '/',
      env: { HOME: home, PATH: process.env['PATH'] },
    }).toString()
}

test.each(shells)(
  'in %s a command has its secrets, and no file of the machine has them from its first line on',
  (...shell) => {
    const value = fc.string({ minLength: 1, unit: 'binary-ascii' }).filter(text => !text.includes('\0'))
    const steps = fc.constantFrom('setup', 'running')
    fc.assert(
      fc.property(value, steps, (secret, step) => {
        const home = temporaryFolder()
        const run = projectRun({ step })
        mkdirSync(join(home, 'berth', run.project.id), { recursive: true })
        const ask = machine(shell, home)
        ask(writeEnvironment(run), environmentText({ TOKEN: secret }))
        expect(readdirSync(join(home, 'berth'))).toContain(`.${run.id}.env`)
        expect(ask(`${intoProject(run)}ls -A ..\nprintf %s "$TOKEN"`)).toBe(`${run.project.id}\n${secret}`)
      }),
      { numRuns: 10 },
    )
  },
)

test.each(shells)('in %s what a command of MPI leaves for its nodes is deleted after it', (...shell) => {
  const home = temporaryFolder()
  const run = projectRun({ step: 'running', project: { spec: { run: 'x', nodes: 2, engine: 'mpi' } } })
  mkdirSync(join(home, 'berth', run.project.id), { recursive: true })
  const ask = machine(shell, home)
  ask(writeEnvironment(run), environmentText({ TOKEN: 'x' }))
  ask(`${intoProject(run)}true`)
  expect(readdirSync(join(home, 'berth'))).toContain(`.${run.id}.env`)
  ask(removeEnvironment(run))
  expect(readdirSync(join(home, 'berth'))).toEqual([run.project.id])
})
