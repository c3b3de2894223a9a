import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lacks } from '../../../needs.ts'
import { hasSshd } from '../../ssh/sshd.ts'
import { jobOf, openProject } from './place.ts'

const lacking = lacks({ what: 'sshd', there: hasSshd })

async function runToEnd(run: string, results: string) {
  const place = await openProject({ 'berth.yaml': `run: |\n  ${run}\nresults: ${results}\n` })
  const { under, runProject } = place
  const id = await runProject()
  const ended = () => ['done', 'failed'].includes(jobOf(under, id)?.step ?? '')
  await under.until(ended)
  return { ...place, id, job: () => jobOf(under, id) }
}

describe.skipIf(lacking)(`the results of a job${lacking}`, () => {
  test.each([
    [
      'a link to a folder',
      'mkdir -p $HOME/big && echo w > $HOME/big/m && ln -s $HOME/big out',
      'out',
      'out/m',
    ],
    [
      'a link to a file',
      'mkdir -p out $HOME/ck && echo w > $HOME/ck/a && ln -s $HOME/ck/a out/last.ckpt',
      'out/last.ckpt',
      'out/last.ckpt',
    ],
    [
      'a folder with a link to a file',
      'mkdir -p out $HOME/ck && echo w > $HOME/ck/a && ln -s $HOME/ck/a out/last.ckpt && echo l > out/log.txt',
      'out',
      'out/last.ckpt',
    ],
    [
      'a folder with a link to a folder',
      'mkdir -p out $HOME/ck && echo w > $HOME/ck/a && ln -s $HOME/ck out/checkpoints',
      'out',
      'out/checkpoints/a',
    ],
    [
      'a link to a run beside it',
      'mkdir -p logs/run-1; echo w > logs/run-1/m; ln -s run-1 logs/latest',
      'logs/latest',
      'logs/latest/m',
    ],
    [
      'a path through a link',
      'mkdir -p logs/run-1; echo w > logs/run-1/m; ln -s run-1 logs/latest',
      'logs/latest/m',
      'logs/latest/m',
    ],
    ['a link beside its file', 'mkdir out; echo w > out/a; ln -s a out/last.ckpt', 'out', 'out/a'],
  ])('are downloaded where they are %s', async (_, run, results, expected) => {
    const { under, folder, job } = await runToEnd(run, results)
    expect(job()).toMatchObject({ step: 'done', code: 0 })
    expect(readFileSync(join(folder, expected), 'utf8')).toBe('w\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test.each([
    [
      'a link that leads nowhere',
      'ln -s nowhere out',
      'results_left',
      'out (a link that leads nowhere or too far)',
    ],
    ['an empty folder', 'mkdir -p out/deep', 'results_missing', 'out is missing or empty'],
    ['an empty file', 'touch out', 'results_missing', 'out is missing or empty'],
    ['a pipe', 'mkdir out; mkfifo out/pipe', 'results_missing', 'out is missing or empty'],
    [
      'a git repository',
      'mkdir -p out/repo/.git; echo x > out/repo/.git/HEAD; echo y > out/repo/file',
      'results_left',
      'out/repo/.git (a git repository',
    ],
    [
      'a file with a line break in its name',
      'mkdir out; echo y > out/a; echo x > "out/$(printf \'a\\nb\')"',
      'results_left',
      'out/a\\u{a}b (its name has a line break)',
    ],
  ])('keep the machine, stopped, where they are %s', async (_, run, code, message) => {
    const { under, job } = await runToEnd(run, 'out')
    expect(job()).toMatchObject({
      step: 'failed',
      problem: { code, message: expect.stringContaining(message) },
    })
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    expect(Object.keys(under.account().instances)).toHaveLength(1)
  })

  test('are downloaded with long names and a lone HEAD', async () => {
    const long = 'n'.repeat(255)
    const { folder, job } = await runToEnd(`mkdir out; echo w > out/HEAD; echo w > out/${long}`, 'out')
    expect(job()).toMatchObject({ step: 'done', brought: { files: 2 } })
    expect(existsSync(join(folder, 'out', long))).toBe(true)
  })
})
