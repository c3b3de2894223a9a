import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  name?: string
  uses?: string
  run?: string
}
interface Job {
  'runs-on': string
  'timeout-minutes': number
  strategy?: { matrix: { os: string[] } }
  steps: Step[]
}
const workflow: { on: object; permissions: object; jobs: Record<string, Job> } = parse(
  readFileSync('.github/workflows/ci.yml', 'utf8'),
)
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
const jobs = Object.values(workflow.jobs)
const runs = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))

test('each job is bounded in time, and each step either runs something or uses something', () => {
  for (const { steps, ...job } of jobs) {
    expect(job['timeout-minutes']).toBeGreaterThan(0)
    for (const step of steps) expect([step.run, step.uses].filter(Boolean)).toHaveLength(1)
  }
  expect(workflow.permissions).toEqual({ contents: 'read' })
})

test('what it runs is there', () => {
  const named = runs.flatMap(run => [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name))
  expect(named).toEqual(expect.arrayContaining(['build', 'package', 'test:electron']))
  expect(named.filter(name => scripts[name] === undefined)).toEqual([])
  expect(existsSync('.ci/run')).toBe(true)
})

test('it tests and packages on the three systems', () => {
  const systems = (job: string) => workflow.jobs[job]?.strategy?.matrix.os ?? []
  expect(systems('test')).toEqual(['macos-latest', 'windows-latest'])
  expect(systems('package')).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest'])
  expect(workflow.jobs['test-linux']?.['runs-on']).toBe('ubuntu-latest')
})
